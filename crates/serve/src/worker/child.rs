//! The worker's side: reads requests from standard input, answers on standard output, and ends with it.

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use zeroize::Zeroizing;

use crate::error::ServeError;
use crate::worker::check::{check, user};
use crate::worker::evaluate::{Prepared, join};
use crate::worker::protocol::{Answer, Request};

/// Open files of a worker.
const FILES: u64 = 64;

/// Limits this process: bytes of memory that it may take, and of a file that it may write.
fn limit(memory: u64, file: u64) -> Result<(), ServeError> {
    let end = Some(Signal::KILL);
    set_parent_process_death_signal(end)
        .map_err(|e| ServeError::io("asking for an end with the service")(e.into()))?;
    // Mapped files do not count as data.
    let limits =
        [(Resource::Data, memory), (Resource::Fsize, file), (Resource::Nofile, FILES), (Resource::Core, 0)];
    for (resource, most) in limits {
        let most = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, most).map_err(|e| ServeError::io("limiting a worker")(e.into()))?;
    }
    Ok(())
}

/// Works until standard input ends.
///
/// # Errors
/// Limits that cannot be set, and a service that does not read.
pub fn work(memory: u64, file: u64) -> Result<(), ServeError> {
    limit(memory, file)?;
    let out = Mutex::new(io::stdout());
    let tell = |answer: Answer| -> Result<(), ServeError> {
        let mut line = serde_json::to_vec(&answer).map_err(|e| ServeError::Worker { why: e.to_string() })?;
        line.push(b'\n');
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&line).and_then(|()| out.flush()).map_err(ServeError::io("answering"))
    };
    let mut prepared = Prepared::default();
    for line in io::stdin().lock().lines() {
        let line = Zeroizing::new(line.map_err(ServeError::io("reading a request"))?);
        let request = serde_json::from_str(&line).map_err(|e| ServeError::Worker { why: e.to_string() })?;
        let answer = match request {
            Request::Check { file } => check(&file),
            Request::Run(run) => prepared.run(&run, |progress| drop(tell(progress))),
            Request::Join { parts, out, runs } => join(&parts, &out, runs),
            Request::Spread { .. } => Err(user("Request", "one worker spreads nothing")),
        };
        tell(answer.unwrap_or_else(Answer::Failed))?;
    }
    Ok(())
}
