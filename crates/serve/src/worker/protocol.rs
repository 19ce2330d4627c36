//! What the service and a worker say to each other: a JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blobs::{Sealing, Source};
use crate::store::jobs::Failure;
use crate::store::objects::Kind;

/// Asked of a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Request {
    /// To say what a file is.
    Check { file: Source },
    /// To run a program.
    Run(Box<Run>),
    /// To run a program with arguments of `runs` runs, by workers side by side: of the command that spreads batches.
    Spread {
        #[serde(flatten)]
        run: Box<Run>,
        runs: u64,
        tenant: i64,
    },
    /// To make one file of the results of shares of a batch.
    Join { parts: Vec<Part>, out: PathBuf, runs: usize },
}

/// Files of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) program: Source,
    /// All keys, in one file or several.
    pub(crate) keys: Vec<Source>,
    pub(crate) arguments: Source,
    /// Where results go, and what they are sealed with if they are.
    pub(crate) out: PathBuf,
    pub(crate) sealing: Option<Sealing>,
    pub(crate) threads: usize,
    /// Bytes of memory that keys may take; more stay in their file.
    pub(crate) key_memory: u64,
    /// The runs of a batch that are meant, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<Share>,
}

/// Runs of a batch.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// Results of a share, and how many runs they are of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) runs: usize,
}

/// What a worker answers: any number of `Progress`, then another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(crate) enum Answer {
    /// Steps done, and all steps.
    Progress { done: u64, all: u64 },
    /// What a file is.
    Known { kind: Kind, hash: String, size: u64, facts: Value },
    /// Results were written. The engine took `seconds`; files and preparation took the time `beside` them.
    Done { hash: String, size: u64, seconds: f64, beside: f64 },
    /// It is not as it should be.
    Failed(Failure),
}
