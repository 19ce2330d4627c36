//! The Rust face: an evaluator whose every operation is a small HE program.
