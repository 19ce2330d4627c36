//! What a file is: read once from its beginning to its end, before it becomes an object.

use std::io::{self, BufReader, Read};

use ringmill::bundle::{BundleError, Json, Reader};
use ringmill::ckks::file::{FileError, Kind as Held, inspect, inspect_keys};
use ringmill::kernel_file::KernelFile;
use serde_json::{Value, json};

use crate::blobs::{Source, hash_of};
use crate::store::jobs::{Class, Failure};
use crate::store::key_sets;
use crate::store::objects::Kind;
use crate::worker::protocol::Answer;

/// The most bytes of a kernel file: a program is read into memory.
const MAX_PROGRAM: u64 = 1 << 30;

pub(crate) fn user(code: impl Into<String>, message: impl ToString) -> Failure {
    Failure { class: Class::User, code: code.into(), message: message.to_string() }
}

pub(crate) fn system(action: &str, error: &io::Error) -> Failure {
    Failure { class: Class::Resource, code: "Io".into(), message: format!("{action} failed: {error}") }
}

/// Says what a file is.
pub(crate) fn check(source: &Source) -> Result<Answer, Failure> {
    let again = || source.open().map_err(|e| system("opening the file", &e));
    let mut counted = Counted { input: again()?, size: 0 };
    let hash = hash_of(&mut counted).map_err(|e| system("reading the file", &e))?;
    let size = counted.size;
    let mut first = Vec::new();
    again()?.take(8).read_to_end(&mut first).map_err(|e| system("reading the file", &e))?;
    let input = BufReader::with_capacity(1 << 20, again()?);
    let (kind, facts) = match &first[..] {
        b"RINGMILL" => keys(input)?,
        head if head.starts_with(b"PK") => bundle(input, size)?,
        head if head.starts_with(b"{") => key_set(input, size)?,
        _ => {
            return Err(user(
                "UnknownFile",
                "this is no kernel file, no file of evaluation keys, no set of these and no file of arguments",
            ));
        }
    };
    Ok(Answer::Known { kind, hash, size, facts })
}

/// What is read, counted.
struct Counted<R> {
    input: R,
    size: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(out)?;
        self.size += got as u64;
        Ok(got)
    }
}

fn framed(error: FileError) -> Failure {
    match error {
        FileError::Io { .. } => {
            Failure { class: Class::Resource, code: "Io".into(), message: error.to_string() }
        }
        FileError::Kind { found: Held::SecretKey, .. } => {
            user("SecretKey", "this is a secret key; a server never needs it")
        }
        FileError::Kind { .. } => user("WrongKind", error),
        _ => user("Damaged", error),
    }
}

fn bundled(error: BundleError) -> Failure {
    user(error.code(), error)
}

fn keys(mut input: impl Read) -> Result<(Kind, Value), Failure> {
    let (info, list) = inspect_keys(&mut input).map_err(framed)?;
    if input.read(&mut [0]).map_err(|e| system("reading the file", &e))? > 0 {
        return Err(framed(FileError::Trailing));
    }
    let facts = json!({
        "params": info.fingerprint.to_string(),
        "identity": info.identity.map(|identity| identity.to_string()),
        "relin": list.relin,
        "galois": list.galois,
        "encapsulation": list.encapsulation,
    });
    Ok((Kind::Keys, facts))
}

/// What a set names; whether that is there, the service knows.
fn key_set(mut input: impl Read, size: u64) -> Result<(Kind, Value), Failure> {
    let most = key_sets::MAX_BYTES;
    if size > most {
        return Err(user("TooLarge", format!("a set of keys has at most {most} bytes, not {size}")));
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|e| system("reading the file", &e))?;
    let members = key_sets::parse(&bytes);
    let members = members.map_err(|why| user("KeySet", format!("this is no set of keys: {why}")))?;
    Ok((Kind::KeySet, json!({ "members": members })))
}

fn bundle(mut input: impl Read, size: u64) -> Result<(Kind, Value), Failure> {
    // The kind stands in the header, and a kernel is read as a whole.
    let mut reader = Reader::open(&mut input).map_err(bundled)?;
    match reader.kind() {
        "kernel" if size > MAX_PROGRAM => {
            Err(user("TooLarge", format!("a kernel file has at most {MAX_PROGRAM} bytes, not {size}")))
        }
        "kernel" => program(&mut reader),
        "arguments" => arguments(&mut reader),
        other => Err(user("WrongKind", format!("this bundle holds {other:.40}, which no job takes"))),
    }
}

fn program(reader: &mut Reader<impl Read>) -> Result<(Kind, Value), Failure> {
    let mut parts = Vec::new();
    loop {
        let mut part = Vec::new();
        match reader.next(&mut part).map_err(bundled)? {
            Some(name) => parts.push((name, part)),
            None => break,
        }
    }
    let bundle = ringmill::bundle::Bundle {
        kind: "kernel".into(),
        version: reader.version(),
        facts: reader.facts().clone(),
        parts,
    };
    let refused = |e: ringmill::kernel_file::KernelFileError| user(e.code(), &e);
    let kernel = KernelFile::from_bundle(&bundle).map_err(refused)?;
    let needed = kernel.keys_needed().map_err(refused)?;
    let costs = ringmill::costs().map_err(|e| user("Costs", e))?;
    let predicted = kernel.predict(&costs).map_err(refused)?;
    let facts = json!({
        "kernel": kernel.name(),
        "program": kernel.digest(),
        "params": kernel.params().fingerprint().to_string(),
        "relin": needed.relin,
        "galois": needed.galois,
        "encapsulation": needed.encapsulation,
        "seconds": predicted.seconds,
        "data_bytes": predicted.data_bytes,
        "peak_bytes": predicted.peak_bytes,
        "key_bytes": predicted.key_bytes,
    });
    Ok((Kind::Program, facts))
}

fn arguments(reader: &mut Reader<impl Read>) -> Result<(Kind, Value), Failure> {
    let fact = |reader: &Reader<_>, name: &str| {
        let value = reader.facts().iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        value.as_ref().and_then(Json::as_text).unwrap_or_default().to_owned()
    };
    let (kernel, program) = (fact(reader, "kernel"), fact(reader, "program"));
    let mut names = Vec::new();
    let (mut params, mut identity) = (None, None);
    loop {
        // One ciphertext at a time; the limit of memory bounds it.
        let mut part = Vec::new();
        let Some(name) = reader.next(&mut part).map_err(bundled)? else { break };
        let info = inspect(&part[..]).map_err(framed)?;
        if !matches!(info.kind, Held::Ciphertext | Held::SeededCiphertext) {
            return Err(framed(FileError::Kind { found: info.kind, expected: Held::Ciphertext }));
        }
        let print = info.fingerprint.to_string();
        if params.get_or_insert_with(|| print.clone()) != &print {
            return Err(user("Mismatch", "the arguments belong to several parameters"));
        }
        identity = identity.or(info.identity.map(|identity| identity.to_string()));
        names.push(name);
    }
    if names.is_empty() {
        return Err(user("Damaged", "the bundle holds no ciphertext"));
    }
    // A part is called "RUN/NAME" where there are several runs.
    let run = |name: &String| name.split_once('/').and_then(|(run, _)| run.parse().ok()).unwrap_or(0);
    let runs = names.iter().map(run).fold(0, u64::max).saturating_add(1);
    let facts = json!({
        "kernel": kernel,
        "program": program,
        "params": params,
        "identity": identity,
        "names": names,
        "runs": runs,
    });
    Ok((Kind::Arguments, facts))
}
