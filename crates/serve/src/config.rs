//! Settings of the service.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio_postgres::config::{Host, SslMode};

use crate::error::ServeError;
use crate::store::objects::Kind;

/// Settings; all have defaults for one machine.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder that holds everything.
    pub dir: PathBuf,
    /// The database, if it is not a file in `dir`.
    pub postgres: Option<Postgres>,
    /// Where objects are, if not in `dir`.
    pub bucket: Option<Bucket>,
    /// Bytes of objects of a bucket that stay in `dir` for the next job, at most.
    pub cache: u64,
    /// Where the master key is, if files are encrypted.
    pub master: Option<Master>,
    /// The file of the master key before, while keys are still encrypted under it.
    pub old_master: Option<PathBuf>,
    /// Certificates, if the service speaks TLS.
    pub tls: Option<Tls>,
    /// The collector that traces are given to by OTLP, as "http://HOST:PORT", if the environment names none.
    pub otlp: Option<String>,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Jobs that run at once, each in a process of its own.
    pub workers: usize,
    /// Threads of each job.
    pub threads: usize,
    /// The command that batches are given to, which spreads their runs over workers.
    pub spread: Option<String>,
    /// Pages of which origins may speak to the service, as `https://app.example`.
    pub origins: Vec<String>,
    /// Bytes of memory that a worker may take.
    pub worker_memory: u64,
    /// The most bytes of one object.
    pub max_object: u64,
    /// Predicted seconds of one job, at most.
    pub max_seconds: f64,
    /// Predicted seconds of all queued work divided by workers, at most.
    pub max_queue: f64,
    /// Uploads that run at once.
    pub max_uploads: usize,
    /// Connections that are open at once.
    pub max_connections: usize,
    /// Seconds until the head of a request must be there, and between two pieces of a body.
    pub patience: u64,
    /// Seconds until an upload that nobody goes on with is removed.
    pub upload_ttl: i64,
    /// Seconds of a lease on a job.
    pub lease: i64,
    /// Seconds that running jobs get when the service is to end.
    pub drain: u64,
    /// The part of the disk that must stay free; 16 GiB are enough on a large one.
    pub disk_free: f64,
    /// How long objects and jobs are kept.
    pub keep: Keep,
    /// What a new tenant may have.
    pub quota: Quota,
}

/// What a tenant may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// Bytes that it may store.
    pub bytes: u64,
    /// Jobs that it may have open.
    pub jobs: u64,
    /// Sets of evaluation keys that it may store.
    pub keys: u64,
    /// Predicted core-seconds of the jobs that it may ask for in a day.
    pub seconds: f64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { bytes: 64 << 30, jobs: 64, keys: 64, seconds: 24.0 * 3600.0 }
    }
}

/// Where a database of PostgreSQL is. The password is in neither: it is read when a connection is made.
#[derive(Debug, Clone)]
pub struct Postgres {
    /// As "postgres://USER@HOST/NAME".
    pub url: String,
    /// The file that holds the password.
    pub password_file: Option<PathBuf>,
    /// What the address says of encryption.
    pub encryption: Option<Encryption>,
    /// The authorities of the server's certificate, as PEM.
    pub authorities: Option<PathBuf>,
}

/// How a connection to the database by TCP is encrypted: `sslmode` of its address, with the meanings that PostgreSQL's own clients
/// give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// `disable`.
    Off,
    /// `prefer`: if the server does. Its certificate is not checked.
    Preferred,
    /// `require`: always. Its certificate is not checked; with authorities this is `verify-ca`.
    Required,
    /// `verify-ca`: the server has a certificate of an authority.
    Authority,
    /// `verify-full`: the certificate is also for the name that the address has. What holds with authorities and without a mode.
    Full,
}

/// The variable that holds the password if no file does.
pub const PASSWORD: &str = "RINGMILL_DATABASE_PASSWORD";

impl Postgres {
    /// Reads an address.
    ///
    /// # Errors
    /// A sentence that says what is right. It does not repeat the address, which may hold a password.
    pub fn parse(url: &str) -> Result<Self, String> {
        let right = "give the database as postgres://USER@HOST/NAME";
        let schemes = ["postgres://", "postgresql://"];
        if !schemes.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(right.into());
        }
        let (plain, encryption) = moded(url)?;
        let config: tokio_postgres::Config = plain.parse().map_err(|e| format!("{right}: {e}"))?;
        if config.get_password().is_some() {
            return Err(format!(
                "everyone on this machine sees a password in a command; give it in the file that --database-password-file names, or in {PASSWORD}"
            ));
        }
        Ok(Self { url: plain, password_file: None, encryption, authorities: None })
    }

    /// How connections are encrypted.
    ///
    /// # Errors
    /// A sentence that says what is right, where address and authorities contradict each other.
    pub fn encryption(&self) -> Result<Encryption, String> {
        use Encryption as E;
        match (self.encryption, &self.authorities) {
            (None, None) => Ok(E::Preferred),
            (None, Some(_)) => Ok(E::Full),
            (Some(E::Required), Some(_)) => Ok(E::Authority),
            (Some(E::Off | E::Preferred), Some(_)) => {
                Err("authorities need an encryption that is asked for; give the address sslmode=verify-full"
                    .into())
            }
            (Some(E::Authority | E::Full), None) => {
                Err("a certificate is checked by its authority; name the file of that with --database-ca"
                    .into())
            }
            (Some(mode), _) => Ok(mode),
        }
    }

    /// What a connection needs, with the password as it is now.
    pub(crate) fn config(&self) -> Result<tokio_postgres::Config, ServeError> {
        let wrong = |e: tokio_postgres::Error| ServeError::Start(e.to_string());
        let mut config: tokio_postgres::Config = self.url.parse().map_err(wrong)?;
        let mode = match self.encryption().map_err(ServeError::Start)? {
            Encryption::Off => SslMode::Disable,
            Encryption::Preferred => SslMode::Prefer,
            Encryption::Required | Encryption::Authority | Encryption::Full => SslMode::Require,
        };
        // As with PostgreSQL's own clients this is about TCP alone.
        let local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if local { SslMode::Disable } else { mode });
        if let Some(file) = &self.password_file {
            let read =
                std::fs::read_to_string(file).map_err(ServeError::io("reading the database's password"))?;
            config.password(read.trim_end_matches(['\r', '\n']));
        } else if let Ok(password) = std::env::var(PASSWORD) {
            config.password(password);
        }
        Ok(config)
    }
}

/// An address without its `sslmode`, and what that is.
fn moded(url: &str) -> Result<(String, Option<Encryption>), String> {
    let Some((place, query)) = url.split_once('?') else { return Ok((url.to_owned(), None)) };
    let (mut rest, mut mode) = (Vec::new(), None);
    for part in query.split('&') {
        mode = Some(match part.strip_prefix("sslmode=") {
            None => {
                rest.push(part);
                continue;
            }
            Some("disable") => Encryption::Off,
            Some("prefer") => Encryption::Preferred,
            Some("require") => Encryption::Required,
            Some("verify-ca") => Encryption::Authority,
            Some("verify-full") => Encryption::Full,
            Some(_) => {
                return Err("sslmode is disable, prefer, require, verify-ca or verify-full".into());
            }
        });
    }
    let url = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
    Ok((url, mode))
}

/// A bucket of an S3 server. Credentials and the server's address are in the environment, by the names that all clients of S3 read,
/// or in a file.
#[derive(Debug, Clone)]
pub struct Bucket {
    /// Of the bucket.
    pub name: String,
    /// What the names of objects begin with.
    pub prefix: String,
    /// The file that holds settings as lines of NAME=VALUE.
    pub settings_file: Option<PathBuf>,
}

impl Bucket {
    /// Reads "s3://BUCKET/PREFIX".
    ///
    /// # Errors
    /// A sentence that says what is right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("s3://").unwrap_or_default();
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        let letters = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/".contains(&b));
        let named = !name.is_empty() && letters(name) && letters(prefix);
        if !named || prefix.split('/').any(|part| part == "." || part == "..") {
            return Err("give the place of objects as s3://BUCKET/PREFIX, of letters, digits and -._".into());
        }
        Ok(Self { name: name.into(), prefix: prefix.into(), settings_file: None })
    }

    /// The settings of the file, if there is one.
    pub(crate) fn read(&self) -> Result<Vec<(String, String)>, ServeError> {
        self.settings_file.as_deref().map_or(Ok(Vec::new()), crate::bucket::settings)
    }
}

/// Where the master key is: 64 hexadecimal digits.
#[derive(Debug, Clone)]
pub enum Master {
    /// In a file.
    File(PathBuf),
    /// It is what a command of the shell prints, which asks a service of keys.
    Command(String),
    /// In the variable [`MASTER`].
    Variable,
}

/// The variable that holds the master key if neither a file nor a command does.
pub const MASTER: &str = "RINGMILL_MASTER_KEY";

/// Files of certificates, as PEM.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// The service's certificate, and those that lead to its authority.
    pub cert: PathBuf,
    /// The private key of it.
    pub key: PathBuf,
    /// The authorities of clients; without them clients need no certificate.
    pub client_ca: Option<PathBuf>,
}

/// Seconds after its last use until an object is removed, by kind, and until a job that has ended is forgotten; 0 keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Keep {
    /// Kernel files.
    pub program: i64,
    /// Evaluation keys.
    pub keys: i64,
    /// Encrypted arguments.
    pub arguments: i64,
    /// Encrypted results.
    pub results: i64,
    /// Jobs that have ended.
    pub jobs: i64,
}

const DAY: i64 = 24 * 3600;

impl Default for Keep {
    fn default() -> Self {
        Self { program: 180 * DAY, keys: 180 * DAY, arguments: 30 * DAY, results: 30 * DAY, jobs: 90 * DAY }
    }
}

impl Keep {
    pub(crate) fn of(&self, kind: Kind) -> i64 {
        match kind {
            Kind::Program => self.program,
            Kind::Keys | Kind::KeySet => self.keys,
            Kind::Arguments => self.arguments,
            Kind::Results => self.results,
        }
    }

    /// Reads "results=86400", which changes one of them.
    ///
    /// # Errors
    /// A sentence that says what is right.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let wrong = || {
            format!(
                "{text:?} says not what is kept for how long; give KIND=SECONDS, of program, keys, arguments, results or jobs"
            )
        };
        let (kind, seconds) = text.split_once('=').ok_or_else(wrong)?;
        let seconds: u32 = seconds.parse().map_err(|_| wrong())?;
        let place = match kind {
            "program" => &mut self.program,
            "keys" => &mut self.keys,
            "arguments" => &mut self.arguments,
            "results" => &mut self.results,
            "jobs" => &mut self.jobs,
            _ => return Err(wrong()),
        };
        *place = seconds.into();
        Ok(())
    }
}

impl Config {
    /// The defaults, with everything in `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            postgres: None,
            bucket: None,
            master: None,
            old_master: None,
            tls: None,
            otlp: None,
            cache: 64 << 30,
            listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
            workers: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            spread: None,
            origins: Vec::new(),
            worker_memory: 8 << 30,
            max_object: 64 << 30,
            max_seconds: 3600.0,
            max_queue: 3600.0,
            max_uploads: 64,
            max_connections: 1024,
            patience: 30,
            upload_ttl: 24 * 3600,
            lease: 30,
            drain: 30,
            disk_free: 0.1,
            keep: Keep::default(),
            quota: Quota::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_database_holds_no_password() {
        let right = Postgres::parse("postgres://me@db.example/ringmill").unwrap();
        assert_eq!(right.config().unwrap().get_user(), Some("me"));
        let secret = Postgres::parse("postgres://me:hunter2@db.example/ringmill").unwrap_err();
        assert!(secret.contains("--database-password-file") && !secret.contains("hunter2"), "{secret}");
        for wrong in ["", "db.example", "mysql://me@db.example/x", "postgres://me@db.example:port/x"] {
            assert!(Postgres::parse(wrong).unwrap_err().contains("postgres://USER@HOST/NAME"), "{wrong}");
        }
    }

    #[test]
    fn what_an_address_says_of_encryption_is_what_holds() {
        use Encryption as E;
        let of = |query: &str, authorities: bool| {
            let mut settings = Postgres::parse(&format!("postgres://me@db.example/x{query}")).unwrap();
            settings.authorities = authorities.then(|| "ca.pem".into());
            settings.encryption().ok()
        };
        for (query, without, with) in [
            ("", Some(E::Preferred), Some(E::Full)),
            ("?sslmode=disable", Some(E::Off), None),
            ("?connect_timeout=3&sslmode=prefer", Some(E::Preferred), None),
            ("?sslmode=require", Some(E::Required), Some(E::Authority)),
            ("?sslmode=verify-ca", None, Some(E::Authority)),
            ("?sslmode=verify-full&connect_timeout=3", None, Some(E::Full)),
        ] {
            assert_eq!((of(query, false), of(query, true)), (without, with), "{query}");
        }
        let mode = |url: &str| Postgres::parse(url).unwrap().config().unwrap().get_ssl_mode();
        assert_eq!(mode("postgres://me@db.example/x?sslmode=require"), SslMode::Require);
        // A socket of this machine is not encrypted.
        assert_eq!(mode("postgres://me@/x?host=/run/db&sslmode=require"), SslMode::Disable);
        assert!(
            Postgres::parse("postgres://me@db.example/x?sslmode=allow").unwrap_err().contains("verify-full")
        );
    }

    #[test]
    fn a_bucket_has_a_name_and_perhaps_a_prefix() {
        for (text, name, prefix) in
            [("s3://b", "b", ""), ("s3://b/", "b", ""), ("s3://my.b/a/b/", "my.b", "a/b")]
        {
            let bucket = Bucket::parse(text).unwrap();
            assert_eq!((&bucket.name[..], &bucket.prefix[..]), (name, prefix));
        }
        for wrong in ["", "b", "s3://", "s3:///x", "gs://b", "s3://b/../c", "s3://key:secret@b"] {
            assert!(Bucket::parse(wrong).unwrap_err().contains("s3://BUCKET/PREFIX"), "{wrong}");
        }
    }

    #[test]
    fn times_are_set_by_kind() {
        let mut keep = Keep::default();
        keep.set("results=60").unwrap();
        keep.set("keys=0").unwrap();
        assert_eq!(keep, Keep { results: 60, keys: 0, ..Keep::default() });
        for wrong in
            ["", "results", "results=", "results=-1", "secrets=1", "results=1.5", "results=99999999999"]
        {
            assert!(keep.set(wrong).unwrap_err().contains("KIND=SECONDS"), "{wrong}");
        }
    }
}
