//! A run of a program, with what the run before it left prepared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ringmill::bundle::Bundle;
use ringmill::ckks::file::{FileError, Stored};
use ringmill::ckks::{Ciphertext, CkksError, EvaluationKeys, KeyMemory, Params};
use ringmill::kernel_file::{Batches, KernelFile, KernelFileError};
use ringmill::machine::{MachineError, Watch};
use ringmill::{Error, Input, Kernel};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::blobs::{Sealing, Source};
use crate::sealed::Sealer;
use crate::store::jobs::{Class, Failure};
use crate::worker::check::{system, user};
use crate::worker::protocol::{Answer, Part, Run, Share};

/// How often progress is reported.
const OFTEN: Duration = Duration::from_millis(100);

/// Program and keys of the last run. Objects never change, so paths name contents.
#[derive(Default)]
pub(crate) struct Prepared {
    program: Option<(PathBuf, usize, KernelFile, Kernel)>,
    keys: Option<(Vec<PathBuf>, EvaluationKeys)>,
}

impl Prepared {
    /// Runs, reporting progress periodically.
    pub(crate) fn run(&mut self, run: &Run, tell: impl Fn(Answer) + Sync) -> Result<Answer, Failure> {
        let began = Instant::now();
        if self.program.as_ref().is_none_or(|p| (&p.0, p.1) != (&run.program.path, run.threads)) {
            // Both would not fit beside each other.
            (self.program, self.keys) = (None, None);
            let file = KernelFile::read(opened(&run.program)?).map_err(refused)?;
            let machine = ringmill::open_machine(&format!("cpu:threads={}", run.threads));
            let kernel = file.kernel(machine.map_err(|e| refused(e.into()))?).map_err(refused)?;
            self.program = Some((run.program.path.clone(), run.threads, file, kernel));
        }
        let Some((_, _, file, kernel)) = &self.program else { return Err(user("Program", "no program")) };
        let paths: Vec<_> = run.keys.iter().map(|file| file.path.clone()).collect();
        if self.keys.as_ref().is_none_or(|(held, _)| *held != paths) {
            self.keys = None;
            self.keys = Some((paths, keys(file, run)?));
        }
        let Some((_, keys)) = &self.keys else { return Err(user("Keys", "no keys")) };
        let arguments = file.arguments(opened(&run.arguments)?).map_err(refused)?;
        let (watch, ended, start) = (Watch::default(), AtomicBool::new(false), Instant::now());
        let taken = match run.share {
            None => Some(&arguments.runs[..]),
            Some(Share { first, count }) => arguments.runs[..].get(first..first.saturating_add(count)),
        };
        let taken =
            taken.ok_or_else(|| user("Share", "the arguments have fewer runs than were announced"))?;
        let (count, before) = (taken.len(), AtomicUsize::new(0));
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
            let results: Result<Vec<_>, _> = taken.iter().enumerate().map(run).collect();
            ended.store(true, Ordering::Relaxed);
            teller.thread().unpark();
            results
        });
        let runs = results.map_err(|e| refused(e.into()))?;
        let seconds = start.elapsed().as_secs_f64();
        let bundle = file.results(&Batches { records: arguments.records, runs }).map_err(refused)?;
        let (hash, size) =
            written(&run.out, run.sealing.as_ref(), &bundle).map_err(|e| system("writing results", &e))?;
        let beside = began.elapsed().as_secs_f64() - seconds;
        Ok(Answer::Done { hash, size, seconds, beside })
    }
}

fn opened(source: &Source) -> Result<BufReader<Box<dyn Read + Send>>, Failure> {
    let file = source.open().map_err(|e| system("opening an object", &e))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// Keys in memory, or left in their file if they would take too much of it.
fn keys(kernel: &KernelFile, run: &Run) -> Result<EvaluationKeys, Failure> {
    let size = |file: &Source| Ok(file.path.metadata().map_err(|e| system("reading the keys", &e))?.len());
    let sizes = run.keys.iter().map(size).collect::<Result<Vec<_>, Failure>>()?;
    let size = sizes.into_iter().fold(0, u64::saturating_add);
    // A seeded file holds a packed half of each key.
    let memory = match size.saturating_mul(4) <= run.key_memory {
        true => KeyMemory::Expanded,
        false => KeyMemory::Mapped,
    };
    let read = |file| keys_of(kernel.params(), file, memory);
    let sets = run.keys.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    EvaluationKeys::joined(kernel.params(), sets).map_err(|e| refused(Error::Ckks(e).into()))
}

/// The keys of one file.
fn keys_of(params: &Params, source: &Source, memory: KeyMemory) -> Result<EvaluationKeys, Failure> {
    let framed = |e: FileError| refused(e.into());
    match (&source.key, memory) {
        (None, _) => EvaluationKeys::load_in(params, &source.path, memory).map_err(framed),
        (Some(_), KeyMemory::Mapped) => {
            // What is mapped is in the clear: in memory that has no name, which goes with this process.
            let file = anonymous(&mut opened(source)?).map_err(|e| system("decrypting the keys", &e))?;
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            EvaluationKeys::load_in(params, path, memory).map_err(framed)
        }
        (Some(_), _) => {
            let mut input = opened(source)?;
            let keys = EvaluationKeys::read(params, &mut input).map_err(framed)?;
            match input.read(&mut [0]) {
                Ok(0) => Ok(keys),
                Ok(_) => Err(framed(FileError::Trailing)),
                Err(error) => Err(system("reading the keys", &error)),
            }
        }
    }
}

/// A file of memory that nothing names, with these bytes.
fn anonymous(input: &mut impl Read) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("keys", MemfdFlags::CLOEXEC)?);
    std::io::copy(input, &mut file)?;
    file.rewind()?;
    Ok(file)
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

/// Makes one file of the results of shares of a batch, as if one worker had run all.
pub(crate) fn join(parts: &[Part], out: &Path, runs: usize) -> Result<Answer, Failure> {
    let began = Instant::now();
    let (mut whole, mut first) = (None::<Bundle>, 0);
    for Part { path, runs: count } in parts {
        let file = File::open(path).map_err(|e| system("opening results", &e))?;
        let read = Bundle::read(BufReader::new(file), "results");
        let read = read.map_err(|e| system("reading results", &std::io::Error::other(e)))?;
        let named = |(name, bytes): (String, Vec<u8>)| {
            // Of a share of one run names stand alone.
            let (run, name) = name.split_once('/').unwrap_or(("0", &name));
            Some((format!("{}/{name}", first + run.parse::<usize>().ok()?), bytes))
        };
        let named: Option<Vec<_>> = read.parts.into_iter().map(named).collect();
        let named = named.ok_or_else(|| user("Share", "results of a share have other names"))?;
        match &mut whole {
            None => whole = Some(Bundle { parts: named, ..read }),
            Some(whole) => whole.parts.extend(named),
        }
        first += count;
    }
    let whole = whole.filter(|_| first == runs && runs > 1);
    let whole = whole.ok_or_else(|| user("Share", "the shares are not all runs of a batch"))?;
    let (hash, size) = written(out, None, &whole).map_err(|e| system("writing results", &e))?;
    Ok(Answer::Done { hash, size, seconds: 0.0, beside: began.elapsed().as_secs_f64() })
}

fn written(out: &Path, sealing: Option<&Sealing>, bundle: &Bundle) -> std::io::Result<(String, u64)> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(out)?;
    match sealing {
        None => hashed(BufWriter::new(&file), bundle).map(|(hash, size, _)| (hash, size)),
        Some(Sealing { salt, key }) => {
            let (hash, size, sealer) = hashed(Sealer::begin(file, *salt, key)?, bundle)?;
            sealer.finish()?;
            sealer.name(&hash, size)?;
            Ok((hash, size))
        }
    }
}

fn hashed<W: Write>(out: W, bundle: &Bundle) -> std::io::Result<(String, u64, W)> {
    let mut out = Hashing { out, hasher: blake3::Hasher::new(), size: 0 };
    bundle.write(&mut out).map_err(std::io::Error::other)?;
    out.flush()?;
    Ok((out.hasher.finalize().to_hex().to_string(), out.size, out.out))
}

/// Whose fault it is.
fn refused(error: KernelFileError) -> Failure {
    let class = match &error {
        KernelFileError::File(FileError::Io { .. }) => Class::Resource,
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
