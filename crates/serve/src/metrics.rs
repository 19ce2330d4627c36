//! Figures in Prometheus' text form. None names a tenant.

use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts,
    Registry, TextEncoder,
};

use crate::error::ServeError;

pub(crate) struct Metrics {
    registry: Registry,
    /// Requests by method, route and status.
    pub(crate) requests: IntCounterVec,
    pub(crate) request_seconds: HistogramVec,
    /// Refusals by code.
    pub(crate) refusals: IntCounterVec,
    /// Bytes that came in and went out.
    pub(crate) bytes: IntCounterVec,
    /// Failures of runs by class.
    pub(crate) failures: IntCounterVec,
    /// Seconds of runs, predicted and real.
    pub(crate) run_seconds: HistogramVec,
    pub(crate) queue_seconds: Histogram,
    pub(crate) secret_keys: IntCounter,
    /// Jobs whose keys the worker held, and whose keys it had to read.
    pub(crate) keys: IntCounterVec,
    /// Objects whose time was over, by kind.
    pub(crate) expired: IntCounterVec,
    jobs: IntGaugeVec,
    queued_seconds: Gauge,
    disk_free: Gauge,
}

const SECONDS: &[f64] = &[0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0, 3600.0];

impl Metrics {
    pub(crate) fn new() -> Result<Self, ServeError> {
        Self::made().map_err(|e| ServeError::Start(e.to_string()))
    }

    fn made() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let name = |name: &str| format!("ringmill_{name}");
        let counter = |n: &str, help: &str, labels: &[&str]| {
            let made = IntCounterVec::new(Opts::new(name(n), help), labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let seconds = |n: &str, help: &str, labels: &[&str]| {
            let options = HistogramOpts::new(name(n), help).buckets(SECONDS.to_vec());
            let made = HistogramVec::new(options, labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let gauge = |n: &str, help: &str| {
            let made = Gauge::new(name(n), help)?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let jobs = IntGaugeVec::new(Opts::new(name("jobs"), "Open jobs."), &["state"])?;
        registry.register(Box::new(jobs.clone()))?;
        let secret_keys =
            IntCounter::new(name("secret_keys_refused_total"), "Secret keys that were sent and refused.")?;
        registry.register(Box::new(secret_keys.clone()))?;
        Ok(Self {
            requests: counter("requests_total", "Requests.", &["method", "route", "status"])?,
            request_seconds: seconds("request_seconds", "Seconds until a response began.", &["route"])?,
            refusals: counter("refusals_total", "Requests that were refused, by code.", &["code"])?,
            bytes: counter("bytes_total", "Bytes of objects.", &["direction"])?,
            failures: counter("job_failures_total", "Runs that failed, by class.", &["class"])?,
            run_seconds: seconds("run_seconds", "Seconds of runs.", &["kind"])?,
            queue_seconds: seconds("queue_seconds", "Seconds that jobs waited.", &[])?
                .with_label_values::<&str>(&[]),
            secret_keys,
            keys: counter(
                "job_keys_total",
                "Jobs by whether the worker held their keys or read them.",
                &["keys"],
            )?,
            expired: counter("expired_objects_total", "Objects whose time was over.", &["kind"])?,
            jobs,
            queued_seconds: gauge("queued_seconds", "Predicted seconds of open jobs.")?,
            disk_free: gauge("disk_free_ratio", "The part of the disk that is free.")?,
            registry,
        })
    }

    /// The text, with the state of the queue and the disk.
    pub(crate) fn text(
        &self,
        (queued, running, seconds): (i64, i64, f64),
        free: f64,
    ) -> Result<String, ServeError> {
        self.jobs.with_label_values(&["queued"]).set(queued);
        self.jobs.with_label_values(&["running"]).set(running);
        self.queued_seconds.set(seconds);
        self.disk_free.set(free);
        let mut text = Vec::new();
        let written = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        written.map_err(|e| ServeError::Worker { why: e.to_string() })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
