//! Jobs from the queue to the workers.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry::trace::SpanKind;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval, sleep};

use crate::app::App;
use crate::collect;
use crate::error::ServeError;
use crate::store::jobs::{self, Class, Failure, Finished, Held, Job};
use crate::store::key_sets::{self, Needs, Taken};
use crate::store::objects::{Kind, Object, get};
use crate::store::{now, spawned, uploads};
use crate::telemetry;
use crate::worker::parent::Worker;
use crate::worker::protocol::{Answer, Request, Run};

/// How often the queue is looked at without a signal.
const POLL: Duration = Duration::from_secs(1);

/// In how many rounds of sweeping the copies of objects are looked at once.
const TRIMMED: u64 = 4;

/// A worker that had nothing to do for so long is ended; its memory is free then.
const IDLE: Duration = Duration::from_secs(60);

/// What is known of runs while they last.
#[derive(Default)]
pub(crate) struct Runs {
    running: Mutex<HashMap<String, Running>>,
    /// Tenants that were deleted here: no worker keeps what it has of them.
    gone: Mutex<HashSet<i64>>,
    /// Signals that a job changed.
    pub(crate) changed: Notify,
    /// Signals that a job came further.
    pub(crate) moved: Notify,
    /// Signals that a job waits.
    pub(crate) queued: Notify,
}

struct Running {
    progress: (u64, u64),
    cancel: Arc<Notify>,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steps done and all steps of a job that runs.
    pub(crate) fn progress(&self, id: &str) -> Option<(u64, u64)> {
        self.lock().get(id).map(|running| running.progress)
    }

    /// Ends what runs or is prepared for a tenant that was deleted.
    pub(crate) fn forget(&self, tenant: i64, jobs: &[String]) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant);
        jobs.iter().for_each(|job| self.cancel(job));
        self.queued.notify_waiters();
    }

    fn is_gone(&self, tenant: i64) -> bool {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).contains(&tenant)
    }

    /// Ends the run of a job, if it runs here.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(running) = self.lock().get(id) {
            running.cancel.notify_one();
        }
        self.changed.notify_waiters();
    }
}

/// Runs jobs one after the other until the service goes down.
pub(crate) async fn slot(app: Arc<App>) {
    let (mut worker, mut used) = (None::<Worker>, Instant::now());
    let mut held = None::<Held>;
    while !app.is_draining() {
        let lease = app.config.lease;
        let near = held.clone().filter(|_| worker.is_some());
        match app.store.lightly(move |t| jobs::claim(t, lease, near.as_ref())).await {
            Ok(Some(job)) => {
                let next = Held { tenant: job.tenant, keys: job.keys.clone() };
                let keys = if held.as_ref() == Some(&next) && worker.is_some() { "held" } else { "read" };
                app.metrics.keys.with_label_values(&[keys]).inc();
                held = Some(next);
                app.runs.changed.notify_waiters();
                worker = serve(&app, job, worker).await;
                used = Instant::now();
                app.runs.changed.notify_waiters();
                continue;
            }
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the queue cannot be read"),
        }
        tokio::select! {
            () = app.runs.queued.notified() => {}
            () = app.going_down() => {}
            () = sleep(POLL) => {}
        }
        if let Some(idle) = worker.take_if(|idle| used.elapsed() >= IDLE || app.runs.is_gone(idle.tenant)) {
            idle.end().await;
        }
        if let Ok(mut spread) = app.spread.try_lock()
            && let Some(idle) = spread.take_if(|idle| used.elapsed() >= IDLE || app.runs.is_gone(idle.tenant))
        {
            idle.end().await;
        }
    }
    let spread = app.spread.try_lock().ok().and_then(|mut spread| spread.take());
    for worker in [worker, spread].into_iter().flatten() {
        worker.end().await;
    }
}

/// How a run ended.
enum Outcome {
    Done {
        hash: String,
        size: u64,
        seconds: f64,
        beside: f64,
    },
    Failed(Failure),
    /// The lease is another's, or the job has ended.
    Lost,
    /// The service goes down.
    Drained,
}

/// Runs one job; gives the worker back if it can go on.
async fn serve(app: &Arc<App>, job: Job, worker: Option<Worker>) -> Option<Worker> {
    let (cancel, start) = (Arc::new(Notify::new()), Instant::now());
    app.runs.lock().insert(job.id.clone(), Running { progress: (0, 0), cancel: cancel.clone() });
    let out = app.blobs.work(&format!("{}-{}", job.id, job.epoch));
    let asked = job.clone();
    let needs = app.store.read(move |t| key_sets::of_job(t, &asked)).await;
    let Needs { keys, runs, model_seconds } = match needs {
        Ok(needs) => needs,
        Err(error) => {
            // The lease ends, and the job is run again.
            tracing::error!(%error, job = job.id, "what a job needs cannot be read");
            app.runs.lock().remove(&job.id);
            return worker;
        }
    };
    let parent = job.trace.as_deref().and_then(telemetry::parse);
    let mut whole = app.telemetry.begin("job", SpanKind::Consumer, parent.as_ref());
    whole.set("ringmill.job", job.id.clone());
    whole.set("ringmill.attempt", job.attempts);
    whole.set("ringmill.queued_seconds", (job.started.unwrap_or(job.created) - job.created) as f64);
    let trace = whole.trace();
    let mut working = app.telemetry.begin("worker", SpanKind::Internal, whole.context().as_ref());
    let spread = if runs > 1 && app.config.spread.is_some() { app.spread.try_lock().ok() } else { None };
    let (outcome, worker) = match spread {
        // One batch at a time has the workers of the command; another runs as every job does.
        Some(mut spread) => {
            let held = spread.take();
            let (outcome, held) = run(app, &job, &out, held, &cancel, (&keys, runs)).await;
            *spread = held;
            (outcome, worker)
        }
        None => run(app, &job, &out, worker, &cancel, (&keys, 1)).await,
    };
    match &outcome {
        Outcome::Done { seconds, beside, .. } => {
            working.set("ringmill.engine_seconds", *seconds);
            working.set("ringmill.file_seconds", *beside);
        }
        Outcome::Failed(failure) => {
            working.fail(&failure.code);
            whole.fail(failure.class.name());
        }
        Outcome::Lost | Outcome::Drained => whole.set("ringmill.given_back", true),
    }
    drop(working);
    let ended = match outcome {
        Outcome::Done { hash, size, seconds, beside } => {
            let ran = start.elapsed().as_secs_f64();
            let _ending = app.telemetry.begin("results", SpanKind::Internal, whole.context().as_ref());
            let ended = done(app, &job, &out, (hash, size, seconds), model_seconds).await;
            let all = start.elapsed().as_secs_f64();
            // Where the time went: the engine, files in the worker, the process, and the end.
            let (process, end) = (ran - seconds - beside, all - ran);
            tracing::info!(job = job.id, trace, seconds, files = beside, process, end, "job ran");
            ended
        }
        Outcome::Failed(failure) => {
            app.metrics.failures.with_label_values(&[failure.class.name()]).inc();
            tracing::warn!(
                job = job.id,
                trace,
                class = failure.class.name(),
                code = failure.code,
                "job failed"
            );
            let (app, job) = (app.clone(), job.clone());
            app.store.clone().run(move |t| jobs::fail(t, &job, &failure).map(drop)).await
        }
        Outcome::Lost => Ok(()),
        Outcome::Drained => {
            let job = job.clone();
            app.store.run(move |t| jobs::release(t, &job)).await
        }
    };
    if let Err(error) = ended {
        // The lease ends, and the job is run again.
        tracing::error!(%error, job = job.id, "the end of a job was not noted");
    }
    app.blobs.remove(&out);
    app.runs.lock().remove(&job.id);
    worker
}

async fn run(
    app: &Arc<App>,
    job: &Job,
    out: &std::path::Path,
    worker: Option<Worker>,
    cancel: &Notify,
    (keys, runs): (&[Taken], u64),
) -> (Outcome, Option<Worker>) {
    let command = app.config.spread.as_ref().filter(|_| runs > 1);
    // What one tenant's files did to a process is not met by another's. The command that spreads batches opens none.
    let mut worker = match worker {
        Some(worker) if worker.tenant == job.tenant => worker,
        Some(worker) if command.is_some() => worker.of_tenant(job.tenant),
        other => {
            if let Some(other) = other {
                other.end().await;
            }
            let started = match command {
                Some(words) => Worker::spreading(&app.config, words, job.tenant),
                None => Worker::start(&app.config, job.tenant),
            };
            match started {
                Ok(worker) => worker,
                Err(error) => {
                    let (class, code) = (Class::Resource, "NoWorker".to_owned());
                    return (Outcome::Failed(Failure { class, code, message: error.to_string() }), None);
                }
            }
        }
    };
    tracing::info!(job = job.id, epoch = job.epoch, worker = worker.pid(), "job started");
    let (tenant, blobs) = (job.tenant, app.blobs.clone());
    let (named, taken) = (job.clone(), keys.to_vec());
    let files = spawned(move || {
        let source = |hash: &str| blobs.source(tenant, hash);
        let keys = taken.iter().map(|file| source(&file.hash)).collect::<Result<Vec<_>, _>>()?;
        Ok((source(&named.program)?, keys, source(&named.arguments)?, blobs.sealing(tenant)?))
    });
    let (program, keys, arguments, sealing) = match leased(app, job, files).await {
        None => return (Outcome::Lost, Some(worker)),
        Some(Ok(files)) => files,
        Some(Err(error)) => {
            let (class, code) = (Class::Resource, "NoObject".to_owned());
            return (Outcome::Failed(Failure { class, code, message: error.to_string() }), Some(worker));
        }
    };
    let asked = Box::new(Run {
        program,
        keys,
        arguments,
        out: out.to_owned(),
        sealing,
        threads: app.config.threads,
        key_memory: app.config.worker_memory / 2,
        share: None,
    });
    let request = match command {
        Some(_) => Request::Spread { run: asked, runs, tenant },
        None => Request::Run(asked),
    };
    if worker.ask(&request).await.is_err() {
        let Answer::Failed(failure) = worker.answer().await else { return (Outcome::Lost, None) };
        return (Outcome::Failed(failure), None);
    }
    let third = Duration::from_secs((app.config.lease / 3).max(1) as u64);
    let mut renewal = interval(third);
    renewal.tick().await;
    let until = Duration::from_secs((job.deadline - now()).max(0) as u64);
    let deadline = sleep(until);
    tokio::pin!(deadline);
    loop {
        tokio::select! {
            answer = worker.answer() => match answer {
                Answer::Progress { done, all } => {
                    if let Some(running) = app.runs.lock().get_mut(&job.id) {
                        running.progress = (done, all);
                    }
                    app.runs.moved.notify_waiters();
                }
                Answer::Done { hash, size, seconds, beside } => {
                    return (Outcome::Done { hash, size, seconds, beside }, Some(worker));
                }
                // A refusal leaves the worker as it was; of one that ended nothing is left.
                Answer::Failed(failure) if failure.class == Class::User => {
                    return (Outcome::Failed(failure), Some(worker));
                }
                Answer::Failed(failure) => {
                    worker.end().await;
                    return (Outcome::Failed(failure), None);
                }
                Answer::Known { .. } => return (Outcome::Lost, None),
            },
            _ = renewal.tick() => {
                let (leased, lease) = (job.clone(), app.config.lease);
                if let Ok(false) = app.store.lightly(move |t| jobs::renew(t, &leased, lease)).await {
                    worker.end().await;
                    return (Outcome::Lost, None);
                }
            }
            () = cancel.notified() => {
                worker.end().await;
                return (Outcome::Lost, None);
            }
            () = &mut deadline => {
                worker.end().await;
                let _ = app.store.run(|t| jobs::sweep(t, false)).await;
                return (Outcome::Lost, None);
            }
            () = app.deadline_of_drain() => {
                worker.end().await;
                return (Outcome::Drained, None);
            }
        }
    }
}

/// Waits for a transfer while the lease on a job is lengthened; nothing if it is another's by now.
async fn leased<T>(
    app: &Arc<App>,
    job: &Job,
    work: impl Future<Output = Result<T, ServeError>>,
) -> Option<Result<T, ServeError>> {
    tokio::pin!(work);
    let mut renewal = interval(Duration::from_secs((app.config.lease / 3).max(1) as u64));
    renewal.tick().await;
    loop {
        tokio::select! {
            made = &mut work => return Some(made),
            _ = renewal.tick() => {
                let (held, lease) = (job.clone(), app.config.lease);
                if let Ok(false) = app.store.lightly(move |t| jobs::renew(t, &held, lease)).await {
                    return None;
                }
            }
        }
    }
}

/// Makes results an object and ends the job, both or neither.
///
/// Nothing waits for the disk here: what a loss of power takes is computed again, with the same bits. Before anything is removed that
/// a result came from, `collect::settle` has it on disk.
async fn done(
    app: &Arc<App>,
    job: &Job,
    out: &std::path::Path,
    (hash, size, seconds): (String, u64, f64),
    model_seconds: f64,
) -> Result<(), ServeError> {
    let (app, job, out) = (app.clone(), job.clone(), out.to_owned());
    let store = app.store.clone();
    let settled = app.blobs.bucket().is_some();
    if settled {
        let shared = app.clone();
        let (app, out, tenant, hash) = (app.clone(), out.clone(), job.tenant, hash.clone());
        let sending = spawned(move || app.blobs.send(&out, tenant, &hash));
        match leased(&shared, &job, sending).await {
            None => return Ok(()),
            Some(sent) => sent?,
        }
    }
    store
        .lightly(move |t| {
            let program = get(t, job.tenant, &job.program)?;
            let facts = program.map_or(serde_json::Value::Null, |object| {
                serde_json::json!({ "kernel": object.facts["kernel"], "program": object.facts["program"],
                                    "params": object.facts["params"] })
            });
            let result = Object::new(Kind::Results, hash, size, facts);
            let finished = jobs::finish(t, &job, &result, seconds, settled)?;
            if finished == Finished::Object {
                // Within the transaction: a file that cannot be kept leaves the job open.
                app.blobs.confirm(&out, job.tenant, &result.hash, size)?;
                app.blobs.place(&out, job.tenant, &result.hash)?;
            }
            if finished != Finished::Not {
                app.pace.saw(model_seconds, seconds);
                app.metrics.run_seconds.with_label_values(&["predicted"]).observe(job.predicted);
                app.metrics.run_seconds.with_label_values(&["real"]).observe(seconds);
                app.metrics.queue_seconds.observe((job.started.unwrap_or(job.created) - job.created) as f64);
            }
            Ok(())
        })
        .await
}

/// Ends what has expired, now and then.
pub(crate) async fn sweeper(app: Arc<App>) {
    let (mut often, mut round) = (interval(Duration::from_secs(5)), 0u64);
    loop {
        often.tick().await;
        let node = app.node.clone();
        match app.store.run(move |t| Ok((jobs::sweep(t, false)?, uploads::sweep(t, &node)?))).await {
            Ok((changed, gone)) => {
                for id in gone {
                    app.blobs.remove(&app.blobs.upload(&id));
                }
                if changed > 0 {
                    app.runs.changed.notify_waiters();
                    app.runs.queued.notify_waiters();
                }
            }
            Err(error) => tracing::error!(%error, "sweeping failed"),
        }
        let (store, blobs, keep) = (app.store.clone(), app.blobs.clone(), app.config.keep);
        let (cache, trimming) = (app.config.cache, round % TRIMMED == 0);
        round += 1;
        let swept = spawn_blocking(move || {
            if let Some(vault) = blobs.vault() {
                vault.forget()?;
            }
            if trimming {
                collect::trim(&store, &blobs, cache)?;
            }
            collect::sweep(&store, &blobs, &keep)
        })
        .await;
        match swept.map_err(|e| ServeError::Worker { why: e.to_string() }).flatten() {
            Ok(gone) => {
                for object in gone {
                    app.metrics.expired.with_label_values(&[object.kind.name()]).inc();
                }
            }
            Err(error) => tracing::error!(%error, "collecting failed"),
        }
    }
}
