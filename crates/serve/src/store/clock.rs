//! The time of the service: of leases, tokens, deadlines and objects.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

/// What this process reads time from; tests move both hands.
struct Hands {
    /// Since 1970, by the clock that operators and time servers set.
    wall: fn() -> Duration,
    /// Since any moment, by the clock that nobody sets.
    steady: fn() -> Duration,
}

const HANDS: Hands = Hands {
    wall: || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
    steady: || {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    },
};

/// A clock that is set once.
struct Clock {
    hands: Hands,
    /// The steady time at which it was set, and the seconds since 1970 then.
    set: OnceLock<(Duration, i64)>,
}

impl Clock {
    const fn new(hands: Hands) -> Self {
        Self { hands, set: OnceLock::new() }
    }

    fn begin(&self, at: i64) {
        let _ = self.set.set(((self.hands.steady)(), at));
    }

    fn now(&self) -> i64 {
        let (start, at) =
            self.set.get_or_init(|| ((self.hands.steady)(), (self.hands.wall)().as_secs() as i64));
        at + (self.hands.steady)().saturating_sub(*start).as_secs() as i64
    }
}

static CLOCK: Clock = Clock::new(HANDS);

/// Sets the clock of this process, if it does not run yet.
pub(crate) fn begin(at: i64) {
    CLOCK.begin(at);
}

/// Seconds since 1970, by a clock that is set once, when the process starts, and runs on evenly: a jump of the system's clock ends no
/// lease, job or object. Nodes of one database read its server's.
pub(crate) fn now() -> i64 {
    #[cfg(test)]
    if let Some(at) = tests::NOW.with(std::cell::Cell::get) {
        return at();
    }
    CLOCK.now()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::store::database::values;
    use crate::store::objects::{Kind, Object};
    use crate::store::testing::each;
    use crate::store::{jobs, tenants, uploads};
    use crate::token::{Caller, Scope, TokenKey};

    thread_local! {
        static WALL: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static STEADY: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        /// What `now` is in this thread.
        pub(super) static NOW: Cell<Option<fn() -> i64>> = const { Cell::new(None) };
        static MOVED: &'static Clock = Box::leak(Box::new(Clock::new(Hands { wall: || WALL.get(), steady: || STEADY.get() })));
    }

    const START: u64 = 1_800_000_000;

    fn moved() {
        WALL.set(Duration::from_secs(START));
        NOW.set(Some(|| MOVED.with(|clock| clock.now())));
        assert_eq!(now(), START as i64);
    }

    fn pass(seconds: u64) {
        STEADY.set(STEADY.get() + Duration::from_secs(seconds));
    }

    #[test]
    fn a_clock_that_jumps_ends_nothing_and_time_that_passes_does() {
        moved();
        each(|store| {
            let dir = tempfile::tempdir().unwrap();
            let key = TokenKey::open(dir.path()).unwrap();
            let tenant = store.now(|t| tenants::add(t, "clock", (1 << 30, 10))).unwrap();
            let expires = Some(now() + 100);
            let token =
                store.now(|t| tenants::add_token(t, &key, None, tenant, &Scope::ALL, expires)).unwrap().1;
            let by = Caller { tenant, token: "test".into(), scopes: Scope::ALL.to_vec() };
            let names = ["p", "k", "a"].map(|name| blake3::hash(name.as_bytes()).to_hex().to_string());
            for (kind, hash) in [Kind::Program, Kind::Keys, Kind::Arguments].into_iter().zip(&names) {
                let object = Object::new(kind, hash.clone(), 1, serde_json::Value::Null);
                store.now(|t| crate::store::objects::add(t, tenant, &object, true)).unwrap();
            }
            let [program, keys, arguments] = names;
            let wanted = jobs::Wanted {
                id: "job".into(),
                program,
                keys,
                arguments,
                idempotency: None,
                predicted: 1.0,
                deadline: now() + 1000,
                trace: None,
            };
            store.now(|t| jobs::add(t, &by, &wanted, (1, 1e9))).unwrap();
            let job = store.now(|t| jobs::claim(t, 30, None)).unwrap().unwrap();
            let upload = uploads::Upload {
                id: "upload".into(),
                tenant,
                size: 1,
                hash: None,
                verified: None,
                expires: now() + 60,
                node: String::new(),
            };
            store.now(|t| uploads::add(t, &upload)).unwrap();
            let caller = || store.now(|t| tenants::caller(t, &key.hash(&token))).unwrap();
            let state = || store.now(|t| jobs::get(t, tenant, "job")).unwrap().state;
            // An hour, ten years, and back before all of it.
            for wall in [START + 3600, START + 315_360_000, START - 3600, 0] {
                WALL.set(Duration::from_secs(wall));
                assert_eq!(store.now(|t| jobs::sweep(t, false)).unwrap(), 0);
                assert!(store.now(|t| jobs::renew(t, &job, 30)).unwrap());
                assert!(store.now(|t| uploads::sweep(t, "")).unwrap().is_empty());
                assert!(caller().is_some());
                assert_eq!(state(), "running");
            }
            pass(29);
            assert_eq!(store.now(|t| jobs::sweep(t, false)).unwrap(), 0);
            pass(2);
            assert_eq!(store.now(|t| jobs::sweep(t, false)).unwrap(), 1);
            assert!(!store.now(|t| jobs::renew(t, &job, 30)).unwrap());
            assert_eq!(state(), "queued");
            pass(30);
            assert_eq!(store.now(|t| uploads::sweep(t, "")).unwrap(), ["upload"]);
            assert!(caller().is_some());
            pass(40);
            assert!(caller().is_none());
            pass(1000);
            store.now(|t| jobs::sweep(t, false)).unwrap();
            assert_eq!(state(), "expired");
            let ended: i64 = store
                .now(|t| t.one("SELECT ended FROM jobs WHERE id = ?1", values!["job"], |row| row.get(0)))
                .unwrap();
            assert_eq!(ended, now());
        });
        NOW.set(None);
    }
}
