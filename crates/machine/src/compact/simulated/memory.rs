//! The memory behind a simulated core.

use ringmill_cycles::axi::Settings;

use crate::compact::CompactConfig;

/// `rm_core_memory`: the memory behind a simulated core, `rtl/sim/README.md`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedMemory {
    /// Cycles from an address to its first beat, at least 1.
    pub read_latency: u32,
    /// Cycles from the last beat to its response, at least 1.
    pub write_latency: u32,
    /// Beats …
    pub rate_num: u32,
    /// … in this number of cycles.
    pub rate_den: u32,
    /// 1: both directions share the rate.
    pub shared: u32,
    /// Bursts in flight in each direction.
    pub outstanding: u32,
    /// Chance of 65,536 that AR, R, AW, W, B stall in a cycle.
    pub stall: [u32; 5],
    /// 1 reads, 2 writes, 3 both fail in the range below.
    pub error_kinds: u32,
    /// 2 SLVERR, 3 DECERR.
    pub error_resp: u32,
    reserved: u32,
    /// Of the stalls.
    pub seed: u64,
    /// First byte that fails.
    pub error_first: u64,
    /// The byte after the last one.
    pub error_end: u64,
}

impl SimulatedMemory {
    /// A memory as a configuration sees it.
    pub fn of(config: &CompactConfig) -> Self {
        let timing = config.timing();
        Self {
            read_latency: timing.latency,
            write_latency: timing.latency,
            rate_num: 1,
            rate_den: timing.beat_cycles,
            outstanding: 32,
            error_resp: 2,
            ..Self::default()
        }
    }

    /// The same memory for the cycle model, which knows no errors.
    pub fn settings(&self) -> Settings {
        Settings {
            read_latency: self.read_latency.into(),
            write_latency: self.write_latency.into(),
            rate_num: self.rate_num.into(),
            rate_den: self.rate_den.into(),
            shared: self.shared != 0,
            outstanding: self.outstanding as usize,
            seed: self.seed,
            stall: self.stall.map(Into::into),
        }
    }
}
