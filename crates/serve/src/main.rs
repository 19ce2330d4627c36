//! `ringmill-serve`: the service, and what its operator does on its machine.

use std::process::ExitCode;

use lexopt::prelude::*;
use ringmill_serve::config::Config;
use ringmill_serve::error::ServeError;
use ringmill_serve::{add_tenant, check_audit, logging, openapi, serve, work};

const HELP: &str = "\
Runs encrypted programs for tenants over HTTP: docs/service.md.

    ringmill-serve --dir DIR [OPTIONS]     serve; prints the address, and the first token of a new folder
    ringmill-serve tenant NAME --dir DIR   add a tenant, or a token to one; prints a token
    ringmill-serve audit --dir DIR         check the audit log
    ringmill-serve openapi                 print the description of the interface

    --dir DIR            the folder that holds everything
    --listen ADDRESS     127.0.0.1:8750; port 0 takes a free one
    --workers N          jobs at once (1)
    --threads N          threads of each job (all cores)
    --worker-memory B    bytes of memory that a worker may take (8 GiB)
    --max-object B       bytes of one object (64 GiB)
    --max-seconds S      predicted seconds of one job (3600)
    --max-queue S        predicted seconds of queued work, for each worker (3600)
    --max-uploads N      uploads at once (64)
    --max-connections N  connections at once (1024)
    --patience S         seconds to wait for the head of a request and between pieces of a body (30)
    --upload-ttl S       seconds until an upload that nobody goes on with is removed (86400)
    --lease S            seconds of a lease on a job (30)
    --drain S            seconds that running jobs get after SIGTERM (30)
    --disk-free R        the part of the disk that must stay free (0.1)
    --quota-bytes B      bytes that a new tenant may store (64 GiB)
    --quota-jobs N       jobs that a new tenant may have open (64)
";

enum Verb {
    Serve,
    Tenant(String),
    Audit,
    OpenApi,
    Work { memory: u64, file: u64 },
}

fn reported() -> Result<(Verb, Config), lexopt::Error> {
    let (mut verb, mut config) = (Verb::Serve, Config::new(""));
    let mut parser = lexopt::Parser::from_env();
    let mut first = true;
    while let Some(argument) = parser.next()? {
        match argument {
            Value(word) if first => {
                verb = match &word.string()?[..] {
                    "tenant" => Verb::Tenant(parser.value()?.string()?),
                    "audit" => Verb::Audit,
                    "openapi" => Verb::OpenApi,
                    "worker" => {
                        let mut number = || parser.value()?.parse();
                        Verb::Work { memory: number()?, file: number()? }
                    }
                    other => return Err(format!("there is no verb {other:?}; --help lists them").into()),
                }
            }
            Long("help") => {
                print!("{HELP}");
                std::process::exit(0);
            }
            Long("version") => {
                println!("ringmill-serve {}", env!("CARGO_PKG_VERSION"));
                std::process::exit(0);
            }
            Long("dir") => config.dir = parser.value()?.into(),
            Long("listen") => config.listen = parser.value()?.parse()?,
            Long("workers") => config.workers = within(parser.value()?.parse()?, 1, 1024)?,
            Long("threads") => config.threads = within(parser.value()?.parse()?, 1, 256)?,
            Long("worker-memory") => {
                config.worker_memory = within(parser.value()?.parse()?, 1 << 26, u64::MAX)?
            }
            Long("max-object") => config.max_object = within(parser.value()?.parse()?, 1, i64::MAX as u64)?,
            Long("max-seconds") => config.max_seconds = within(parser.value()?.parse()?, 0.0, f64::MAX)?,
            Long("max-queue") => config.max_queue = within(parser.value()?.parse()?, 0.0, f64::MAX)?,
            Long("max-uploads") => config.max_uploads = within(parser.value()?.parse()?, 1, 1 << 16)?,
            Long("max-connections") => config.max_connections = within(parser.value()?.parse()?, 1, 1 << 20)?,
            Long("patience") => config.patience = within(parser.value()?.parse()?, 1, 3600)?,
            Long("upload-ttl") => config.upload_ttl = within(parser.value()?.parse()?, 1, 1 << 32)?,
            Long("lease") => config.lease = within(parser.value()?.parse()?, 3, 3600)?,
            Long("drain") => config.drain = within(parser.value()?.parse()?, 0, 3600)?,
            Long("disk-free") => config.disk_free = within(parser.value()?.parse()?, 0.0, 1.0)?,
            Long("quota-bytes") => config.quota_bytes = within(parser.value()?.parse()?, 0, i64::MAX as u64)?,
            Long("quota-jobs") => config.quota_jobs = within(parser.value()?.parse()?, 0, i64::MAX as u64)?,
            _ => return Err(argument.unexpected()),
        }
        first = false;
    }
    if config.dir.as_os_str().is_empty() && matches!(verb, Verb::Serve | Verb::Tenant(_) | Verb::Audit) {
        return Err("name the folder of the service with --dir".into());
    }
    Ok((verb, config))
}

fn within<T: PartialOrd + std::fmt::Display>(value: T, least: T, most: T) -> Result<T, lexopt::Error> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(format!("an option is {value}, and lies out of its bounds").into()),
    }
}

fn run(verb: Verb, config: Config) -> Result<(), ServeError> {
    match verb {
        Verb::Work { memory, file } => work(memory, file)?,
        Verb::OpenApi => println!("{}", openapi()?),
        Verb::Tenant(name) => println!("{}", add_tenant(&config, &name)?),
        Verb::Audit => match check_audit(&config)? {
            None => println!("every entry is as it was written"),
            Some(id) => return Err(ServeError::Start(format!("entry {id} of the audit log was changed"))),
        },
        Verb::Serve => {
            logging::begin();
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let runtime = runtime.map_err(|source| ServeError::Io { action: "starting", source })?;
            runtime.block_on(serve(config, |started| {
                println!("Ringmill serves on http://{}", started.address);
                if let Some(token) = &started.token {
                    println!("first token, shown once: {token}");
                }
            }))?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let (verb, config) = match reported() {
        Ok(reported) => reported,
        Err(error) => {
            eprintln!("ringmill-serve: {error}");
            return ExitCode::from(2);
        }
    };
    match run(verb, config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ringmill-serve: {error}");
            ExitCode::FAILURE
        }
    }
}
