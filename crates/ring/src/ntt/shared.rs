//! Tables in use anywhere in the process, so that keys, encoders and machines share them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use super::{plan::Arithmetic, tables::Tables};
use crate::{Isa, RingError};

/// What tables depend on: log2 N, that of the ring of which it is a subring, q, instruction set, arithmetic.
pub(super) type Key = ([u32; 2], u64, Isa, Arithmetic);

/// Tables are pure functions of their key and megabytes each. Nothing is kept alive here.
static IN_USE: LazyLock<Mutex<HashMap<Key, Weak<Tables>>>> = LazyLock::new(Mutex::default);

/// The tables of `key`, built now if nobody has them.
pub(super) fn tables(
    key: Key,
    build: impl FnOnce() -> Result<Tables, RingError>,
) -> Result<Arc<Tables>, RingError> {
    let lock = || IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tables) = lock().get(&key).and_then(Weak::upgrade) {
        return Ok(tables);
    }
    // Tables take milliseconds: others need not wait for them.
    let built = Arc::new(build()?);
    let mut in_use = lock();
    if let Some(tables) = in_use.get(&key).and_then(Weak::upgrade) {
        return Ok(tables);
    }
    in_use.retain(|_, tables| tables.strong_count() > 0);
    in_use.insert(key, Arc::downgrade(&built));
    Ok(built)
}

#[cfg(test)]
mod tests {
    use crate::{Isa, ntt::Plan, primes};

    #[test]
    fn plans_share_tables_while_one_lives() {
        let q = primes::of_bits(47, 11, 2, &[]).unwrap();
        let address = |plan: &Plan| std::sync::Arc::as_ptr(&plan.tables) as usize;
        let a = Plan::new(11, q[0], Isa::Scalar).unwrap();
        let b = Plan::new(11, q[0], Isa::Scalar).unwrap();
        assert_eq!(address(&a), address(&b));
        assert_ne!(address(&a), address(&Plan::new(10, q[0], Isa::Scalar).unwrap()));
        assert_ne!(address(&a), address(&Plan::new(11, q[1], Isa::Scalar).unwrap()));
        assert_ne!(address(&a), address(&Plan::new(11, q[0], Isa::Emulated8).unwrap()));
        let weak = std::sync::Arc::downgrade(&a.tables);
        drop((a, b));
        assert_eq!(weak.strong_count(), 0, "nothing is kept alive");
    }
}
