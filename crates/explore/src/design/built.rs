//! The machine of a design.

use serde::{Deserialize, Serialize};

/// What a design says by name.
pub type Fields = serde_json::Map<String, serde_json::Value>;

/// A machine, and what beside it only those need to know who build it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// The text of the machine: it runs programs, or estimates them, wherever a machine is named.
    pub machine: String,
    /// What its synthesis depends on, and nothing else.
    pub hardware: Fields,
}

impl Built {
    /// The name of its target, which is that of its machine.
    pub fn target(&self) -> &str {
        self.machine.split(':').next().unwrap_or_default()
    }
}
