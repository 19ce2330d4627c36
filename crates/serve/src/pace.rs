//! How this node compares with the model of times: predictions are slowed down to what jobs took.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Jobs that are looked back at.
const WINDOW: usize = 64;

/// Of these, the part that may not have been slower than predicted.
const COVERED: f64 = 0.9;

/// The last jobs' seconds over those of the model.
#[derive(Default)]
pub(crate) struct Pace(Mutex<VecDeque<f64>>);

impl Pace {
    /// A job ended: seconds of one core by the model, and those that it took.
    pub(crate) fn saw(&self, model: f64, took: f64) {
        let ratio = took / model;
        if ratio.is_finite() && ratio > 0.0 {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            last.truncate(WINDOW - 1);
            last.push_front(ratio);
        }
    }

    /// By what the model's seconds are multiplied: at least 1, so that no idle hour makes them optimistic.
    pub(crate) fn factor(&self) -> f64 {
        let mut last: Vec<f64> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        last.sort_by(f64::total_cmp);
        let rank = (COVERED * last.len() as f64).ceil() as usize;
        rank.checked_sub(1).map_or(1.0, |at| last[at].max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_jobs_of_ten_are_not_slower_than_predicted() {
        for slow in [1.0, 1.5, 4.0] {
            let pace = Pace::default();
            // 0.1, 0.2 … 6.4 times the model, in an order that is not sorted, then times `slow`.
            let ratios: Vec<f64> = (0..64).map(|i| f64::from((i * 37) % 64 + 1) * 0.1 * slow).collect();
            ratios.iter().for_each(|ratio| pace.saw(2.0, 2.0 * ratio));
            let within = ratios.iter().filter(|&&ratio| ratio <= pace.factor()).count();
            assert_eq!(within, 58);
        }
    }

    #[test]
    fn old_jobs_are_forgotten_and_a_fast_node_promises_no_more_than_the_model() {
        let pace = Pace::default();
        assert_eq!(pace.factor(), 1.0);
        pace.saw(1.0, 9.0);
        assert_eq!(pace.factor(), 9.0);
        (0..WINDOW).for_each(|_| pace.saw(1.0, 0.5));
        assert_eq!(pace.factor(), 1.0);
        // A program without instructions has no seconds.
        pace.saw(0.0, 1.0);
        pace.saw(1.0, f64::NAN);
        assert_eq!(pace.factor(), 1.0);
    }
}
