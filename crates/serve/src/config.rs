//! Settings of the service.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Settings; all have defaults for one machine.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder that holds everything.
    pub dir: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Jobs that run at once, each in a process of its own.
    pub workers: usize,
    /// Threads of each job.
    pub threads: usize,
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
    /// The part of the disk that must stay free.
    pub disk_free: f64,
    /// Bytes that a new tenant may store.
    pub quota_bytes: u64,
    /// Jobs that a new tenant may have open.
    pub quota_jobs: u64,
}

impl Config {
    /// The defaults, with everything in `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
            workers: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
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
            quota_bytes: 64 << 30,
            quota_jobs: 64,
        }
    }
}
