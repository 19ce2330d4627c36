//! The service's side of a worker.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::config::{Config, MASTER, PASSWORD};
use crate::error::ServeError;
use crate::sealed::sealed_size;
use crate::store::jobs::{Class, Failure};
use crate::worker::protocol::{Answer, Request};

/// How long the command that spreads batches may take to end.
const SPREAD_END: Duration = Duration::from_secs(10);

/// What is kept of the last words of a worker.
const LAST_WORDS: u64 = 4096;

/// A child process that works for one tenant.
pub(crate) struct Worker {
    /// Whose files it has seen.
    pub(crate) tenant: i64,
    child: Child,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    /// Nothing of the command that spreads batches: it talks more than is read.
    stderr: Option<ChildStderr>,
}

/// What the command that spreads batches does not need to know.
const SECRETS: [&str; 4] = [MASTER, PASSWORD, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

impl Worker {
    /// Starts a worker.
    pub(crate) fn start(config: &Config, tenant: i64) -> Result<Self, ServeError> {
        // Not by its path, where another version may stand by now.
        let mut command = Command::new("/proc/self/exe");
        let file = sealed_size(config.max_object);
        command.arg("worker").arg(config.worker_memory.to_string()).arg(file.to_string());
        // Nothing of the service's environment but what chooses instruction sets and costs.
        command.env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| {
            ["RINGMILL_ISA", "RINGMILL_COSTS", "HOME", "XDG_CACHE_HOME"].iter().any(|kept| name == kept)
        }));
        command.stderr(Stdio::piped());
        Self::of(command, tenant)
    }

    /// Starts the command that spreads batches, which starts workers as this would. It opens no file of a tenant.
    pub(crate) fn spreading(config: &Config, words: &str, tenant: i64) -> Result<Self, ServeError> {
        let own = std::env::current_exe().map_err(ServeError::io("finding this program"))?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec {words} \"$@\"")).arg("spread").arg(own);
        command.arg(config.worker_memory.to_string()).arg(sealed_size(config.max_object).to_string());
        for name in SECRETS {
            command.env_remove(name);
        }
        command.stderr(Stdio::null());
        Self::of(command, tenant)
    }

    fn of(mut command: Command, tenant: i64) -> Result<Self, ServeError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(ServeError::io("starting a worker"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ServeError::Worker { why: "a worker has no pipes".into() });
        };
        let stderr = child.stderr.take();
        Ok(Self { tenant, child, stdin, answers: BufReader::new(stdout).lines(), stderr })
    }

    /// This command for the next tenant: it opens no file of either.
    pub(crate) fn of_tenant(self, tenant: i64) -> Self {
        Self { tenant, ..self }
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Asks for work.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<(), ServeError> {
        // It may hold keys of files. With capacity for it, no part stays where a shorter line was.
        let keys = match request {
            Request::Run(run) | Request::Spread { run, .. } => run.keys.len(),
            _ => 0,
        };
        let mut line = Zeroizing::new(Vec::with_capacity((1 << 14) + (keys << 12)));
        serde_json::to_writer(&mut *line, request).map_err(|e| ServeError::Worker { why: e.to_string() })?;
        line.push(b'\n');
        self.stdin.write_all(&line).await.map_err(ServeError::io("asking a worker"))
    }

    /// The next answer; how the process ended, as a failure, if it has ended. Stays right if it is dropped midway.
    pub(crate) async fn answer(&mut self) -> Answer {
        match self.answers.next_line().await {
            Ok(Some(line)) => match serde_json::from_str(&line) {
                Ok(answer) => answer,
                Err(_) => Answer::Failed(bug("a worker answered what is no answer".into())),
            },
            _ => Answer::Failed(self.ended().await),
        }
    }

    /// Asks, and waits for the last answer.
    pub(crate) async fn asked(&mut self, request: &Request) -> Answer {
        if self.ask(request).await.is_err() {
            return Answer::Failed(self.ended().await);
        }
        loop {
            match self.answer().await {
                Answer::Progress { .. } => {}
                last => return last,
            }
        }
    }

    /// Why the process ended.
    async fn ended(&mut self) -> Failure {
        let mut words = Vec::new();
        // What it said stays here: it may speak of what is in files.
        if let Some(stderr) = &mut self.stderr {
            let _ = stderr.take(LAST_WORDS).read_to_end(&mut words).await;
        }
        let _ = self.child.start_kill();
        let words = String::from_utf8_lossy(&words);
        match self.child.wait().await {
            Ok(status) => why(status, &words),
            Err(error) => bug(format!("a worker was lost: {error}")),
        }
    }

    /// Ends the process. The command that spreads batches ends its own processes first, if it does so soon.
    pub(crate) async fn end(self) {
        let Self { mut child, stdin, stderr, .. } = self;
        if stderr.is_none() {
            drop(stdin);
            let _ = timeout(SPREAD_END, child.wait()).await;
        }
        let _ = child.kill().await;
    }
}

fn bug(message: String) -> Failure {
    Failure { class: Class::Bug, code: "WorkerBug".into(), message }
}

fn why(status: ExitStatus, words: &str) -> Failure {
    let resource = |code: &str, message: &str| Failure {
        class: Class::Resource,
        code: code.into(),
        message: message.into(),
    };
    // What the standard library says when an allocation fails, before it aborts.
    if words.contains("memory allocation of") {
        return resource("OutOfMemory", "the worker had not enough memory");
    }
    match status.signal() {
        Some(9) => {
            resource("WorkerKilled", "the worker was killed, as a system does that has too little memory")
        }
        Some(15) => resource("WorkerKilled", "the worker was ended"),
        Some(signal) => bug(format!("the worker ended by signal {signal}")),
        None => bug(format!("the worker ended with status {}", status.code().unwrap_or(-1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_classes() {
        let signal = |n| ExitStatus::from_raw(n);
        assert_eq!(why(signal(9), "").class, Class::Resource);
        assert_eq!(why(signal(6), "memory allocation of 8 bytes failed").code, "OutOfMemory");
        assert_eq!(why(signal(6), "panicked").class, Class::Bug);
        assert_eq!(why(signal(11), "").class, Class::Bug);
        assert_eq!(why(signal(101 << 8), "").message, "the worker ended with status 101");
    }
}
