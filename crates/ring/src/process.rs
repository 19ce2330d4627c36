//! Threads do not survive a fork: in the child, pools of the process that it was forked from never answer.

use std::sync::OnceLock;

/// A process, as the owner of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Process(u32);

impl Process {
    /// The one that asks.
    pub fn current() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the one that asks, and not one that this was forked from.
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

/// Whether the thread pool that all of a process share may be used: not in the child of a process that used it.
pub fn has_shared_threads() -> bool {
    static FIRST: OnceLock<Process> = OnceLock::new();
    FIRST.get_or_init(Process::current).is_current()
}
