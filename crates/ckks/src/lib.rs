//! CKKS parameters, encoder, keys, encryption, error model and files.
