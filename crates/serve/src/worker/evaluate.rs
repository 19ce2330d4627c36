//! A run of a program, with what the run before it left prepared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ringmill::ckks::{Ciphertext, CkksError, EvaluationKeys, KeyMemory};
use ringmill::kernel_file::{Batches, KernelFile, KernelFileError};
use ringmill::machine::{MachineError, Watch};
use ringmill::{Error, Input, Kernel};

use crate::store::jobs::{Class, Failure};
use crate::worker::check::{system, user};
use crate::worker::protocol::{Answer, Run};

/// How often progress is reported.
const OFTEN: Duration = Duration::from_millis(100);

/// Program and keys of the last run. Objects never change, so a path names contents.
#[derive(Default)]
pub(crate) struct Prepared {
    program: Option<(PathBuf, usize, KernelFile, Kernel)>,
    keys: Option<(PathBuf, EvaluationKeys)>,
}

impl Prepared {
    /// Runs, reporting progress periodically.
    pub(crate) fn run(&mut self, run: &Run, tell: impl Fn(Answer) + Sync) -> Result<Answer, Failure> {
        let began = Instant::now();
        if self.program.as_ref().is_none_or(|p| (&p.0, p.1) != (&run.program, run.threads)) {
            // Both would not fit beside each other.
            (self.program, self.keys) = (None, None);
            let file = KernelFile::read(opened(&run.program)?).map_err(refused)?;
            let machine = ringmill::open_machine(&format!("cpu:threads={}", run.threads));
            let kernel = file.kernel(machine.map_err(|e| refused(e.into()))?).map_err(refused)?;
            self.program = Some((run.program.clone(), run.threads, file, kernel));
        }
        let Some((_, _, file, kernel)) = &self.program else { return Err(user("Program", "no program")) };
        if self.keys.as_ref().is_none_or(|(path, _)| path != &run.keys) {
            self.keys = None;
            let size = run.keys.metadata().map_err(|e| system("reading the keys", &e))?.len();
            // A seeded file holds a packed half of each key.
            let memory = if size.saturating_mul(4) <= run.key_memory {
                KeyMemory::Expanded
            } else {
                KeyMemory::Mapped
            };
            let keys = EvaluationKeys::load_in(file.params(), &run.keys, memory);
            self.keys = Some((run.keys.clone(), keys.map_err(|e| refused(e.into()))?));
        }
        let Some((_, keys)) = &self.keys else { return Err(user("Keys", "no keys")) };
        let arguments = file.arguments(opened(&run.arguments)?).map_err(refused)?;
        let (watch, ended, start) = (Watch::default(), AtomicBool::new(false), Instant::now());
        let (count, before) = (arguments.runs.len(), AtomicUsize::new(0));
        let results = thread::scope(|scope| {
            let teller = scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    thread::park_timeout(OFTEN);
                    let (done, all) = watch.progress();
                    if all > 0 && !ended.load(Ordering::Relaxed) {
                        let done = (before.load(Ordering::Relaxed) * all + done) as u64;
                        tell(Answer::Progress { done, all: (count * all) as u64 });
                    }
                }
            });
            let run = |(number, ciphers): (usize, &BTreeMap<String, Ciphertext>)| {
                before.store(number, Ordering::Relaxed);
                let inputs = ciphers.iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
                kernel.run_watched(&inputs, keys, &watch)
            };
            let results: Result<Vec<_>, _> = arguments.runs.iter().enumerate().map(run).collect();
            ended.store(true, Ordering::Relaxed);
            teller.thread().unpark();
            results
        });
        let runs = results.map_err(|e| refused(e.into()))?;
        let seconds = start.elapsed().as_secs_f64();
        let bundle = file.results(&Batches { records: arguments.records, runs }).map_err(refused)?;
        let (hash, size) = written(&run.out, &bundle).map_err(|e| system("writing results", &e))?;
        let beside = began.elapsed().as_secs_f64() - seconds;
        Ok(Answer::Done { hash, size, seconds, beside })
    }
}

fn opened(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|e| system("opening an object", &e))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// A writer that hashes.
struct Hashing<W> {
    out: W,
    hasher: blake3::Hasher,
    size: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn written(path: &Path, bundle: &ringmill::bundle::Bundle) -> std::io::Result<(String, u64)> {
    let file = File::create(path)?;
    let mut out = Hashing { out: BufWriter::new(&file), hasher: blake3::Hasher::new(), size: 0 };
    bundle.write(&mut out).map_err(std::io::Error::other)?;
    out.flush()?;
    Ok((out.hasher.finalize().to_hex().to_string(), out.size))
}

/// Whose fault it is.
fn refused(error: KernelFileError) -> Failure {
    let class = match &error {
        KernelFileError::File(ringmill::ckks::file::FileError::Io { .. }) => Class::Resource,
        KernelFileError::Face(Error::Machine(MachineError::Stopped)) => Class::Resource,
        _ => Class::User,
    };
    let code = match &error {
        KernelFileError::Face(Error::Ckks(
            CkksError::MissingKeys { .. } | CkksError::MissingRelinKey | CkksError::MissingGaloisKey { .. },
        )) => "KeysMissing",
        other => other.code(),
    };
    Failure { class, code: code.to_owned(), message: error.to_string() }
}
