//! The machine `file` in the registry.

use std::sync::Arc;

use super::Described;
use crate::parameter::{Allowed, Parameter};
use crate::registry::{Entry, Estimates, LeftOut, Setting};

/// The description that stands for one that is left out: its words are long enough for every program.
const LEFT_OUT: &str = "taiyi-60";

static PATH: Parameter = Parameter {
    name: "path",
    field: "path",
    rtl: None,
    allowed: Allowed::Path,
    default: None,
    unit: "",
    about: "the file of a description, which ends in .toml, or the name of one that comes with the program: taiyi, \
            taiyi-serial, taiyi-small, taiyi-60, sharp, ark or craterlake",
};

/// The machine `file`.
pub static ENTRY: Entry = Entry {
    name: "file",
    about: "a large machine that a file describes: docs/large-machines.md",
    runs: "none; it estimates those whose primes fit its words",
    estimates: Estimates::Schedule,
    simulates: "not at all: no data",
    shared: false,
    options: &[Setting { parameter: &PATH, left_out: LeftOut::Words(LEFT_OUT), unnamed: true }],
    open: |spec| Ok(Arc::new(Described::named(spec.text(PATH.name).unwrap_or(LEFT_OUT))?)),
};
