//! Ending a search from outside of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ExploreError;

/// Ends a search from any thread: it begins nothing new, and gives what it has once the programs in hand are simulated. Clones
/// stop the same search.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the search.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody ended it.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Goes on unless it was ended.
    ///
    /// # Errors
    /// [`ExploreError::Stopped`].
    pub(crate) fn check(&self) -> Result<(), ExploreError> {
        if self.is_stopped() { Err(ExploreError::Stopped) } else { Ok(()) }
    }
}
