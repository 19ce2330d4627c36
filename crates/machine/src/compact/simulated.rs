//! A core under Verilator, in a shared library with the C interface of `rtl/sim/src/rm_core.h`.

mod memory;
mod observe;

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::Library;

use super::core::{Core, Counters, check_identity};
use super::driver::{self, Registers};
use super::emulator::check_range;
use super::parameters::{CoreParameter, PARAMETERS};
use super::{CompactConfig, CompactError, CompactLiteral, TableEntry, registers as reg};

pub use memory::SimulatedMemory;
pub use observe::Written;

/// The version of the C interface.
const ABI: u32 = 2;
/// What the functions return.
const OK: c_int = 0;
const LIMIT: c_int = 1;

/// An opaque handle.
#[repr(C)]
struct Handle {
    _private: [u8; 0],
}

/// How many parameters a simulated core is built for.
pub(super) const BUILT: usize = 8;

/// `rm_core_parameters`: the hardware's of [`PARAMETERS`], in their order (`rm_core_parameters.h`).
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Parameters {
    abi: u32,
    built: [u32; BUILT],
    traces: u32,
}

/// The parameters that a simulated core is built for.
fn built() -> impl Iterator<Item = &'static CoreParameter> {
    PARAMETERS.into_iter().filter(|p| p.parameter.rtl.is_some())
}

/// Numbers of the hardware's parameters as its top module has them: `W=54, NBF=4`.
fn shown(numbers: [u32; BUILT]) -> String {
    let each = built().zip(numbers).map(|(p, n)| format!("{}={n}", p.parameter.rtl.unwrap_or_default()));
    each.collect::<Vec<_>>().join(", ")
}

type New = unsafe extern "C" fn(*mut u8, u64, *const SimulatedMemory) -> *mut Handle;

/// The functions of a library that is kept loaded.
struct Functions {
    new: New,
    free: unsafe extern "C" fn(*mut Handle),
    reset: unsafe extern "C" fn(*mut Handle),
    write: unsafe extern "C" fn(*mut Handle, u32, u32) -> c_int,
    read: unsafe extern "C" fn(*mut Handle, u32, *mut u32) -> c_int,
    start: unsafe extern "C" fn(*mut Handle) -> c_int,
    wait: unsafe extern "C" fn(*mut Handle, u64) -> c_int,
    message: unsafe extern "C" fn(*const Handle) -> *const c_char,
    observe: observe::Observe,
    parameters: Parameters,
    _library: Library,
}

/// A library of one core, to open cores from.
#[derive(Clone)]
pub struct CoreLibrary {
    functions: Arc<Functions>,
}

impl fmt::Debug for CoreLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CoreLibrary").field(&self.functions.parameters).finish()
    }
}

impl CoreLibrary {
    /// Loads a library made by `python -m rtl.sim.build`.
    ///
    /// # Errors
    /// [`CompactError::Simulator`] for a file that is no simulator library.
    pub fn load(path: &Path) -> Result<Self, CompactError> {
        let refused = |e: libloading::Error| CompactError::Simulator { reason: e.to_string() };
        // SAFETY: loading runs the constructors of a library that our own build made from rtl/sim; it has none that
        // touch this process. A caller who names another file asks for that file's code to be run.
        let library = unsafe { Library::new(path) }.map_err(refused)?;
        let mut parameters = Parameters::default();
        // SAFETY: the signatures are those of rm_core.h, whose version is checked below; `parameters` is its struct.
        let functions = unsafe {
            let describe: unsafe extern "C" fn(*mut Parameters) =
                *library.get(b"rm_core_parameters_of\0").map_err(refused)?;
            describe(&mut parameters);
            Functions {
                new: *library.get(b"rm_core_new\0").map_err(refused)?,
                free: *library.get(b"rm_core_free\0").map_err(refused)?,
                reset: *library.get(b"rm_core_reset\0").map_err(refused)?,
                write: *library.get(b"rm_core_write_register\0").map_err(refused)?,
                read: *library.get(b"rm_core_read_register\0").map_err(refused)?,
                start: *library.get(b"rm_core_start\0").map_err(refused)?,
                wait: *library.get(b"rm_core_wait\0").map_err(refused)?,
                message: *library.get(b"rm_core_message\0").map_err(refused)?,
                observe: *library.get(b"rm_core_observe\0").map_err(refused)?,
                parameters,
                _library: library,
            }
        };
        if parameters.abi != ABI {
            let reason = format!("its interface has version {}, this driver speaks {ABI}", parameters.abi);
            return Err(CompactError::Simulator { reason });
        }
        Ok(Self { functions: Arc::new(functions) })
    }

    /// The configuration that the library was built for, with a memory of full speed.
    ///
    /// # Errors
    /// [`CompactError::Parameter`] for a core that this driver does not know.
    pub fn config(&self) -> Result<CompactConfig, CompactError> {
        let mut literal = CompactLiteral::default();
        for (p, number) in built().zip(self.functions.parameters.built) {
            if !p.set_number(&mut literal, number.into()) {
                let (value, allowed) = (number.to_string(), format!("the number of {}", p.parameter.allowed));
                return Err(CompactError::Parameter { name: p.parameter.field, value, allowed });
            }
        }
        literal.build()
    }

    /// A core of this library with zeroed memory.
    ///
    /// # Errors
    /// [`CompactError::Simulator`] if the library was built for other parameters than `config`, or refuses the memory.
    pub fn open(
        &self,
        config: &CompactConfig,
        bytes: u64,
        memory: SimulatedMemory,
    ) -> Result<Simulated, CompactError> {
        let (mut wanted, found) = ([0; BUILT], self.functions.parameters.built);
        for (number, p) in wanted.iter_mut().zip(built()) {
            // Each is below 2^30.
            *number = p.number(config.literal()) as u32;
        }
        if wanted != found {
            let reason = format!("it was built for {}, the machine has {}", shown(found), shown(wanted));
            return Err(CompactError::Simulator { reason });
        }
        let available = config.memory_bytes();
        if bytes > available {
            return Err(CompactError::Memory { needed: bytes, available });
        }
        let mut words = vec![0u64; bytes.div_ceil(8) as usize];
        // SAFETY: `words` outlives the handle (both are fields of `Simulated`, never replaced), and nothing else
        // touches it while a function of the library runs, since all take `&mut self`.
        let handle =
            unsafe { (self.functions.new)(words.as_mut_ptr().cast(), 8 * words.len() as u64, &memory) };
        let Some(handle) = NonNull::new(handle) else {
            return Err(CompactError::Simulator { reason: format!("it refuses the memory {memory:?}") });
        };
        let mut core =
            Simulated { library: self.clone(), handle, words, config: *config, limit: Simulated::LIMIT };
        core.identify()?;
        Ok(core)
    }
}

/// A core under Verilator.
pub struct Simulated {
    library: CoreLibrary,
    handle: NonNull<Handle>,
    words: Vec<u64>,
    config: CompactConfig,
    limit: u64,
}

// SAFETY: a handle may be used by any thread, one at a time (rm_core.h); every function takes `&mut self`.
unsafe impl Send for Simulated {}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not used again.
        unsafe { (self.library.functions.free)(self.handle.as_ptr()) }
    }
}

impl Simulated {
    /// Cycles after which a program counts as hanging: minutes of simulation.
    pub const LIMIT: u64 = 1 << 30;

    /// Another watchdog.
    pub fn set_limit(&mut self, cycles: u64) {
        self.limit = cycles;
    }

    /// Hard reset: registers and the modulus table are lost, memory stays.
    pub fn reset(&mut self) {
        // SAFETY: the handle is ours.
        unsafe { (self.library.functions.reset)(self.handle.as_ptr()) }
    }

    fn check(&self, code: c_int) -> Result<(), CompactError> {
        match code {
            OK => Ok(()),
            LIMIT => Err(CompactError::Watchdog { cycles: self.limit }),
            _ => {
                // SAFETY: the handle is ours; the message is a terminated string that lives until the next call.
                let text = unsafe { CStr::from_ptr((self.library.functions.message)(self.handle.as_ptr())) };
                Err(CompactError::Simulator { reason: text.to_string_lossy().into_owned() })
            }
        }
    }

    /// Writes a register.
    ///
    /// # Errors
    /// An address without a register.
    pub fn write_register(&mut self, address: u32, value: u32) -> Result<(), CompactError> {
        // SAFETY: the handle is ours; its memory is `self.words`.
        let code = unsafe { (self.library.functions.write)(self.handle.as_ptr(), address, value) };
        self.check(code)
    }

    /// Reads a register.
    ///
    /// # Errors
    /// An address without a register.
    pub fn read_register(&mut self, address: u32) -> Result<u32, CompactError> {
        let mut value = 0;
        // SAFETY: as above; `value` is a word to be written.
        let code = unsafe { (self.library.functions.read)(self.handle.as_ptr(), address, &mut value) };
        self.check(code).map(|()| value)
    }

    /// Refuses what is not a core that this driver knows.
    fn identify(&mut self) -> Result<(), CompactError> {
        check_identity(self.read_register(reg::ID)?, self.read_register(reg::VERSION)?)
    }
}

impl Core for Simulated {
    fn config(&self) -> &CompactConfig {
        &self.config
    }

    fn write(&mut self, address: u64, words: &[u64]) -> Result<(), CompactError> {
        check_range(address, words.len(), 8 * self.words.len() as u64)?;
        let start = (address / 8) as usize;
        self.words[start..start + words.len()].copy_from_slice(words);
        Ok(())
    }

    fn read(&mut self, address: u64, words: &mut [u64]) -> Result<(), CompactError> {
        check_range(address, words.len(), 8 * self.words.len() as u64)?;
        let start = (address / 8) as usize;
        words.copy_from_slice(&self.words[start..start + words.len()]);
        Ok(())
    }

    fn set_modulus(&mut self, index: usize, entry: &TableEntry) -> Result<(), CompactError> {
        let config = self.config;
        driver::set_modulus(self, &config, index, entry)
    }

    fn run(&mut self, program: u64, log_n: u32) -> Result<Counters, CompactError> {
        driver::run(self, program, log_n)
    }
}

impl Registers for Simulated {
    type Error = CompactError;

    fn read_register(&mut self, address: u32) -> Result<u32, CompactError> {
        self.read_register(address)
    }

    fn write_register(&mut self, address: u32, value: u32) -> Result<(), CompactError> {
        self.write_register(address, value)
    }

    fn start(&mut self) -> Result<(), CompactError> {
        // SAFETY: the handle is ours; its memory is `self.words`.
        let code = unsafe { (self.library.functions.start)(self.handle.as_ptr()) };
        self.check(code)
    }

    fn wait(&mut self) -> Result<(), CompactError> {
        // SAFETY: as above.
        let code = unsafe { (self.library.functions.wait)(self.handle.as_ptr(), self.limit) };
        self.check(code)
    }
}
