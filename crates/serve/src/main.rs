//! `ringmill-serve`: the service, and what its operator does on its machine.

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;
use ringmill_serve::config::{Bucket, Config, MASTER, Master, Postgres, Tls};
use ringmill_serve::error::ServeError;
use ringmill_serve::{
    add_tenant, backup, check, check_audit, encrypt, forget, gc, logging, openapi, rewrap, serve, work,
};

const HELP: &str = "\
Runs encrypted programs for tenants over HTTP: docs/service.md.

    ringmill-serve --dir DIR [OPTIONS]     serve; prints the address, and the first token of a new folder
    ringmill-serve tenant NAME --dir DIR   add a tenant, or a token to one; prints a token
    ringmill-serve forget NAME --dir DIR   delete a tenant with everything that it has
    ringmill-serve gc --dir DIR            remove what is over, and files that no object has; --dry-run counts it
    ringmill-serve backup --dir DIR --to B copy everything to folder B, which can be served; the service may run
    ringmill-serve check --dir DIR         look whether everything is there; --deep reads every object
    ringmill-serve audit --dir DIR         check the audit log
    ringmill-serve encrypt --dir DIR       encrypt the files of a service that is ended and had no master key
    ringmill-serve rewrap --dir DIR        encrypt the tenants' keys under a new master key; the old one is in a file
    ringmill-serve openapi                 print the description of the interface

    --dir DIR            the folder that holds everything
    --database URL       postgres://USER@HOST/NAME: PostgreSQL instead of a file in DIR
    --database-password-file FILE
                         its password, which else is in RINGMILL_DATABASE_PASSWORD
    --database-ca FILE   authorities of its certificate, PEM; sslmode of the URL is disable, prefer, require, verify-ca or
                         verify-full, which is the default with this
    --blobs s3://BUCKET/PREFIX
                         objects on an S3 server instead of DIR; its address and credentials are in the variables
                         AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION
    --blobs-settings FILE
                         lines of NAME=VALUE instead of these variables
    --cache B            bytes of such objects that stay in DIR for the next job (64 GiB)
    --master-key-file FILE
                         encrypt files at rest, under keys that this one encrypts: 64 hexadecimal digits
    --master-key-command COMMAND
                         the same, of what a command prints; without both it may be in RINGMILL_MASTER_KEY
    --old-master-key-file FILE
                         the master key before
    --tls-cert FILE --tls-key FILE
                         certificate (with those up to its authority) and private key, PEM; read again when they change
    --client-ca FILE     authorities of clients, PEM: who connects needs a certificate of one
    --otlp URL           give traces to a collector of OpenTelemetry, as http://HOST:4318; else OTEL_EXPORTER_OTLP_ENDPOINT names one
    --listen ADDRESS     127.0.0.1:8750; port 0 takes a free one
    --workers N          jobs at once (1)
    --threads N          threads of each job (all cores)
    --spread COMMAND     what runs of batches are given to, which spreads them over workers: ringmill serve --ray N gives it
    --allow-origin ORIGIN
                         pages of this origin may speak to the service from a browser, as https://app.example; may be repeated
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
    --disk-free R        the part of the disk that must stay free (0.1); 16 GiB are enough on a large one
    --keep KIND=S        seconds after its last use until an object of a kind is removed, 0 for never: program and keys
                         (180 days), arguments and results (30 days); for jobs since they ended (90 days)
    --quota-bytes B      bytes that a new tenant may store (64 GiB)
    --quota-jobs N       jobs that a new tenant may have open (64)
    --quota-keys N       sets of evaluation keys that a new tenant may store (64)
    --quota-seconds S    predicted core-seconds of the jobs that a new tenant may ask for in a day (86400)
";

enum Verb {
    Serve,
    Tenant(String),
    Forget(String),
    Gc,
    Backup,
    Check,
    Audit,
    Encrypt,
    Rewrap,
    OpenApi,
    Work { memory: u64, file: u64 },
}

/// What a verb takes beside the settings of the service.
#[derive(Default)]
struct More {
    to: Option<PathBuf>,
    dry: bool,
    deep: bool,
}

fn reported() -> Result<(Verb, Config, More), lexopt::Error> {
    let mut more = More::default();
    let (mut verb, mut config) = (Verb::Serve, Config::new(""));
    let mut parser = lexopt::Parser::from_env();
    let (mut tls, mut masters) = ((None, None, None), (None, None));
    let mut authorities = None::<PathBuf>;
    let (mut first, mut password, mut settings) = (true, None::<PathBuf>, None::<PathBuf>);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(word) if first => {
                verb = match &word.string()?[..] {
                    "tenant" => Verb::Tenant(parser.value()?.string()?),
                    "forget" => Verb::Forget(parser.value()?.string()?),
                    "gc" => Verb::Gc,
                    "backup" => Verb::Backup,
                    "check" => Verb::Check,
                    "audit" => Verb::Audit,
                    "encrypt" => Verb::Encrypt,
                    "rewrap" => Verb::Rewrap,
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
            Long("to") if matches!(verb, Verb::Backup) => more.to = Some(parser.value()?.into()),
            Long("dry-run") if matches!(verb, Verb::Gc) => more.dry = true,
            Long("deep") if matches!(verb, Verb::Check) => more.deep = true,
            Long("keep") => config.keep.set(&parser.value()?.string()?)?,
            Long("dir") => config.dir = parser.value()?.into(),
            Long("database") => config.postgres = Some(Postgres::parse(&parser.value()?.string()?)?),
            Long("database-password-file") => password = Some(parser.value()?.into()),
            Long("database-ca") => authorities = Some(parser.value()?.into()),
            Long("blobs") => config.bucket = Some(Bucket::parse(&parser.value()?.string()?)?),
            Long("blobs-settings") => settings = Some(parser.value()?.into()),
            Long("cache") => config.cache = within(parser.value()?.parse()?, 0, u64::MAX)?,
            Long("master-key-file") => masters.0 = Some(Master::File(parser.value()?.into())),
            Long("master-key-command") => masters.1 = Some(Master::Command(parser.value()?.string()?)),
            Long("old-master-key-file") => config.old_master = Some(parser.value()?.into()),
            Long("tls-cert") => tls.0 = Some(parser.value()?.into()),
            Long("tls-key") => tls.1 = Some(parser.value()?.into()),
            Long("client-ca") => tls.2 = Some(parser.value()?.into()),
            Long("otlp") => config.otlp = Some(collector(parser.value()?.string()?)?),
            Long("listen") => config.listen = parser.value()?.parse()?,
            Long("workers") => config.workers = within(parser.value()?.parse()?, 1, 1024)?,
            Long("threads") => config.threads = within(parser.value()?.parse()?, 1, 256)?,
            Long("spread") => config.spread = Some(parser.value()?.string()?),
            Long("allow-origin") => config.origins.push(origin(parser.value()?.string()?)?),
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
            Long("quota-bytes") => config.quota.bytes = within(parser.value()?.parse()?, 0, i64::MAX as u64)?,
            Long("quota-jobs") => config.quota.jobs = within(parser.value()?.parse()?, 0, i64::MAX as u64)?,
            Long("quota-keys") => config.quota.keys = within(parser.value()?.parse()?, 0, i64::MAX as u64)?,
            Long("quota-seconds") => config.quota.seconds = within(parser.value()?.parse()?, 0.0, f64::MAX)?,
            _ => return Err(argument.unexpected()),
        }
        first = false;
    }
    match (&mut config.postgres, password) {
        (_, None) => {}
        (Some(settings), file) => settings.password_file = file,
        (None, Some(_)) => return Err("a password has no database; name it with --database".into()),
    }
    match &mut config.postgres {
        Some(settings) => {
            settings.authorities = authorities;
            settings.encryption()?;
        }
        None if authorities.is_some() => {
            return Err("authorities have no database; name it with --database".into());
        }
        None => {}
    }
    match (&mut config.bucket, settings) {
        (_, None) => {}
        (Some(bucket), file) => bucket.settings_file = file,
        (None, Some(_)) => return Err("settings have no bucket; name it with --blobs".into()),
    }
    config.tls = match tls {
        (Some(cert), Some(key), client_ca) => Some(Tls { cert, key, client_ca }),
        (None, None, None) => None,
        _ => return Err("TLS needs both --tls-cert and --tls-key".into()),
    };
    config.master = match masters {
        (Some(_), Some(_)) => return Err("give the master key once: in a file, or by a command".into()),
        (Some(master), None) | (None, Some(master)) => Some(master),
        (None, None) => std::env::var_os(MASTER).map(|_| Master::Variable),
    };
    if config.old_master.is_some() && config.master.is_none() {
        return Err("an old master key needs a new one; give it with --master-key-file".into());
    }
    if config.spread.is_some() && config.master.is_some() {
        return Err(
            "--spread would give keys of encrypted files to another program; leave it or the master key out"
                .into(),
        );
    }
    if config.dir.as_os_str().is_empty() && !matches!(verb, Verb::OpenApi | Verb::Work { .. }) {
        return Err("name the folder of the service with --dir".into());
    }
    if matches!(verb, Verb::Backup) && more.to.is_none() {
        return Err("name the folder of the backup with --to".into());
    }
    Ok((verb, config, more))
}

/// The address of a collector.
fn collector(url: String) -> Result<String, lexopt::Error> {
    match ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) && !url.contains('@') {
        true => Ok(url),
        false => {
            Err("give the collector as http://HOST:PORT; a secret goes into OTEL_EXPORTER_OTLP_HEADERS"
                .into())
        }
    }
}

/// The origin of a page: scheme, host and port alone.
fn origin(text: String) -> Result<String, lexopt::Error> {
    let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-:[]".contains(&b);
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(known) => Ok(text),
        _ => Err(format!("{text:?} is no origin of a page; give one as https://app.example").into()),
    }
}

fn within<T: PartialOrd + std::fmt::Display>(value: T, least: T, most: T) -> Result<T, lexopt::Error> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(format!("an option is {value}, and lies out of its bounds").into()),
    }
}

fn run(verb: Verb, config: Config, more: More) -> Result<(), ServeError> {
    let json = |value: serde_json::Result<String>| value.unwrap_or_default();
    match verb {
        Verb::Work { memory, file } => work(memory, file)?,
        Verb::OpenApi => println!("{}", openapi()?),
        Verb::Tenant(name) => println!("{}", add_tenant(&config, &name)?),
        Verb::Forget(name) => println!("{}", json(serde_json::to_string(&forget(&config, &name)?))),
        Verb::Gc => println!("{}", json(serde_json::to_string(&gc(&config, more.dry)?))),
        Verb::Backup => {
            let to = more.to.unwrap_or_default();
            println!("{}", json(serde_json::to_string(&backup(&config, &to)?)));
        }
        Verb::Check => {
            let faults = check(&config, more.deep)?;
            for fault in &faults {
                println!("{fault}");
            }
            if !faults.is_empty() {
                let why = format!("{} faults; restore a backup, or remove what is damaged", faults.len());
                return Err(ServeError::Start(why));
            }
            println!("everything is as it should be");
        }
        Verb::Audit => match check_audit(&config)? {
            None => println!("every entry is as it was written"),
            Some(id) => return Err(ServeError::Start(format!("entry {id} of the audit log was changed"))),
        },
        Verb::Encrypt => println!("{} files were encrypted", encrypt(&config)?),
        Verb::Rewrap => println!("{} keys are under the new master key", rewrap(&config)?),
        Verb::Serve => {
            logging::begin();
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let runtime = runtime.map_err(|source| ServeError::Io { action: "starting", source })?;
            runtime.block_on(serve(config, |started| {
                let scheme = if started.secure { "https" } else { "http" };
                println!("Ringmill serves on {scheme}://{}", started.address);
                if let Some(token) = &started.token {
                    println!("first token, shown once: {token}");
                }
            }))?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let (verb, config, more) = match reported() {
        Ok(reported) => reported,
        Err(error) => {
            eprintln!("ringmill-serve: {error}");
            return ExitCode::from(2);
        }
    };
    match run(verb, config, more) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ringmill-serve: {error}");
            ExitCode::FAILURE
        }
    }
}
