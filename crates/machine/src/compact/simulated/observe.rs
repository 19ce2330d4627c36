//! The result of every instruction of a simulated core, as it is written.

use std::ffi::{c_int, c_void};

use super::{Handle, Simulated};
use crate::compact::{Bank, CompactError, Core, Counters};

/// `rm_core_observer`.
type Observer = unsafe extern "C" fn(*mut c_void, u32, u64, i32, *const u64, u64);
/// `rm_core_observe`.
pub(super) type Observe = unsafe extern "C" fn(*mut Handle, Option<Observer>, *mut c_void) -> c_int;

/// What an instruction has left.
#[derive(Debug)]
pub struct Written<'a> {
    /// Its number in the program.
    pub index: u64,
    /// The cycle of its last row since the core was opened.
    pub cycle: u64,
    /// The bank; none if the limb went to memory alone.
    pub bank: Option<Bank>,
    /// The limb.
    pub limb: &'a [u64],
}

type Callback<'a> = &'a mut dyn FnMut(Written<'_>);

/// Hands a result on to the callback that `user` points to.
unsafe extern "C" fn hand_on(
    user: *mut c_void,
    index: u32,
    cycle: u64,
    bank: i32,
    words: *const u64,
    count: u64,
) {
    // SAFETY: `user` is the callback that `run_observed` lends for the length of a run, the only time in which the
    // library calls; it is not used elsewhere meanwhile.
    let callback = unsafe { &mut *user.cast::<Callback<'_>>() };
    // SAFETY: `count` words that stay until this function returns.
    let limb = unsafe { std::slice::from_raw_parts(words, count as usize) };
    let bank = usize::try_from(bank).ok().and_then(Bank::new);
    callback(Written { index: index.into(), cycle, bank, limb });
}

impl Simulated {
    /// As [`Core::run`], with the result of every instruction; those of one unit come in order. `observe` must not panic.
    ///
    /// # Errors
    /// As [`Core::run`]; [`CompactError::Simulator`] for a library made without `--observe`.
    pub fn run_observed(
        &mut self,
        program: u64,
        log_n: u32,
        mut observe: impl FnMut(Written<'_>),
    ) -> Result<Counters, CompactError> {
        let functions = self.library.functions.clone();
        let mut callback: Callback<'_> = &mut observe;
        let user = (&raw mut callback).cast();
        // SAFETY: the handle is ours, nothing runs, and `callback` outlives the run: the observer is taken away below.
        let code = unsafe { (functions.observe)(self.handle.as_ptr(), Some(hand_on), user) };
        self.check(code)?;
        let ended = self.run(program, log_n);
        // SAFETY: the handle is ours; without a function nothing is called.
        let code = unsafe { (functions.observe)(self.handle.as_ptr(), None, std::ptr::null_mut()) };
        self.check(code)?;
        ended
    }
}
