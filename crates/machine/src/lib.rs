//! What runs a limb program: the reference interpreter and the CPU.
