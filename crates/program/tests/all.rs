//! The integration tests of this crate as one program: it is linked once.

mod choose;
mod few_keys;
mod filetests;
mod he_properties;
mod he_tables;
mod he_text;
mod klss;
mod large_programs;
mod library;
mod limb_binary;
mod limb_text;
mod lowered_programs;
mod lowering;
mod manage_properties;
mod manage_text;
mod passes;
mod raise;
mod scheduling;
mod split;
mod support;
mod walk;
