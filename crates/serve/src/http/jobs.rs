//! Jobs: asked for, watched, cancelled.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::app::App;
use crate::error::ServeError;
use crate::http::objects::{missing, of_kind};
use crate::http::{Problem, Traced, body};
use crate::receipt::{Receipt, SigningKey};
use crate::store::jobs::{self, Job, Wanted};
use crate::store::objects::{self, Kind, Object, model_seconds, runs};
use crate::store::{key_sets, now, random_id, tenants};
use crate::telemetry;
use crate::token::{Caller, Scope};

/// The longest wait for a change, in seconds.
const LONGEST_WAIT: u64 = 60;

/// Seconds of a job's life where nothing else is asked for, and the most.
const LIFE: i64 = 3600;
const LONGEST_LIFE: i64 = 7 * 24 * 3600;

/// How often a connection that waits for events hears something.
const ALIVE: Duration = Duration::from_secs(15);

/// How often progress is reported, at most, and how often a job is looked at without a signal.
const OFTEN: Duration = Duration::from_millis(200);
const AGAIN: Duration = Duration::from_secs(5);

/// How often a job is looked at that another node may run.
const ELSEWHERE: Duration = Duration::from_millis(250);

/// Memory of a worker beside what a program is known to need.
const BESIDE: u64 = 64 << 20;

/// A job that is asked for, by hashes of objects.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    program: String,
    /// A file of keys, or a set of such files.
    keys: String,
    arguments: String,
    /// Seconds from now after which the job is not worth anything: 3600 if left out.
    deadline: Option<i64>,
}

/// A job, and how far it is.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Seen {
    #[serde(flatten)]
    job: Job,
    /// The part that is done, of a job that runs.
    progress: Option<f64>,
    /// Seconds until it ends, as predicted; without the time that it waits.
    eta: Option<f64>,
}

fn seen(app: &App, job: Job) -> Seen {
    let (done, all) = app.runs.progress(&job.id).unwrap_or((0, 0));
    let progress = (job.state == "running").then(|| if all > 0 { done as f64 / all as f64 } else { 0.0 });
    let left = job.predicted * (1.0 - progress.unwrap_or(0.0));
    let eta = job.is_open().then_some(left / app.config.threads as f64);
    Seen { job, progress, eta }
}

/// The tenant's jobs, the newest first.
#[utoipa::path(get, path = "/v1/jobs", responses((status = 200, body = [Seen])))]
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Result<Json<Vec<Seen>>, ServeError> {
    caller.need(Scope::Read)?;
    let jobs = app.store.read(move |t| jobs::list(t, caller.tenant)).await?;
    Ok(Json(jobs.into_iter().map(|job| seen(&app, job)).collect()))
}

/// Asks for a job. With an Idempotency-Key that was used before, gives the job that it made.
#[utoipa::path(post, path = "/v1/jobs", request_body = Asked,
    params(("Idempotency-Key" = Option<String>, Header, description = "a new text for each job")),
    responses((status = 201, body = Seen), (status = 200, body = Seen, description = "Asked for before."),
        (status = 413, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    Extension(Traced(parent)): Extension<Traced>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ServeError> {
    caller.need(Scope::Run)?;
    if app.is_draining() {
        return Err(ServeError::Draining);
    }
    let idempotency = match headers.get("idempotency-key").map(|value| value.to_str()) {
        None => None,
        Some(Ok(key)) if (1..=255).contains(&key.len()) => Some(key.to_owned()),
        Some(_) => return Err(ServeError::bad("Header", "an Idempotency-Key is a text of 1 to 255 bytes")),
    };
    let asked: Asked = body::json(&app, body).await?;
    let life = asked.deadline.unwrap_or(LIFE);
    if !(1..=LONGEST_LIFE).contains(&life) {
        let why = format!("a deadline lies between 1 and {LONGEST_LIFE} seconds from now");
        return Err(ServeError::bad("Deadline", why));
    }
    let (id, shared) = (random_id()?, app.clone());
    let (job, new) = app
        .store
        .run(move |t| {
            if let Some(key) = &idempotency {
                let wanted = (&asked.program[..], &asked.keys[..], &asked.arguments[..]);
                if let Some(job) = jobs::repeated(t, caller.tenant, key, wanted)? {
                    return Ok((job, false));
                }
            }
            t.lock_tenant(caller.tenant)?;
            let hashes = [&asked.program, &asked.keys, &asked.arguments].map(|hash| &hash[..]);
            let [program, keys, arguments] = objects::three(t, caller.tenant, hashes)?;
            let program = of_kind(program, Kind::Program)?;
            let keys = key_sets::are_keys(keys)?;
            let arguments = of_kind(arguments, Kind::Arguments)?;
            let predicted = admitted(&shared, [&program, &keys, &arguments])?;
            let wanted = Wanted {
                id,
                program: asked.program,
                keys: asked.keys,
                arguments: asked.arguments,
                idempotency,
                predicted,
                deadline: now() + life,
                trace: parent.as_ref().map(telemetry::written),
            };
            let queue = (shared.config.workers, shared.config.max_queue);
            Ok((jobs::add(t, &caller, &wanted, queue)?, true))
        })
        .await?;
    app.runs.queued.notify_one();
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    let location = [(header::LOCATION, format!("/v1/jobs/{}", job.id))];
    Ok((status, location, Json(seen(&app, job))).into_response())
}

/// Whether files fit each other and a worker; gives the predicted seconds.
fn admitted(app: &App, [program, keys, arguments]: [&Object; 3]) -> Result<f64, ServeError> {
    let refused = |code: &str, message: &str| {
        Err(ServeError::Refused { code: code.to_owned(), message: message.to_owned() })
    };
    let facts = &program.facts;
    if facts["params"] != keys.facts["params"] {
        return refused(
            "ParamsMismatch",
            "the keys belong to other parameters than the program; make them by the kernel's keygen",
        );
    }
    if facts["program"] != arguments.facts["program"] {
        return refused(
            "OtherProgram",
            "the arguments were encrypted for another program; encrypt them for this kernel file",
        );
    }
    let (theirs, own) = (&keys.facts["identity"], &arguments.facts["identity"]);
    if !theirs.is_null() && !own.is_null() && theirs != own {
        return refused("KeysMismatch", "keys and arguments belong to two secret keys");
    }
    let missing = missing(facts, &keys.facts);
    if !missing.is_empty() {
        return Err(ServeError::KeysMissing { missing });
    }
    let bytes = |name: &str| facts[name].as_u64().unwrap_or(u64::MAX);
    // Keys that are too large stay in their file, which is decrypted to memory if it is sealed.
    let held = bytes("key_bytes").min(app.config.worker_memory / 2);
    let files = key_sets::taken(facts, keys).iter().map(|file| file.size).fold(0, u64::saturating_add);
    let held = if app.blobs.vault().is_some() { held.max(files) } else { held };
    // Arguments and results of every run are held.
    let runs = runs(arguments);
    let parts = [
        bytes("data_bytes").saturating_mul(runs),
        bytes("peak_bytes"),
        held,
        arguments.size,
        program.size,
        BESIDE,
    ];
    let needed = parts.into_iter().fold(0, u64::saturating_add);
    let limit = app.config.worker_memory;
    if needed > limit {
        return Err(ServeError::Memory { needed, limit });
    }
    let (predicted, most) = (model_seconds(program, arguments) * app.pace.factor(), app.config.max_seconds);
    if predicted > most { Err(ServeError::Seconds { predicted, most }) } else { Ok(predicted) }
}

/// How long to wait.
#[derive(Deserialize)]
pub(crate) struct Waiting {
    /// Seconds to wait for the job to end, at most.
    wait: Option<u64>,
}

/// A job; with `wait` the response comes when it ends, or after that many seconds.
#[utoipa::path(get, path = "/v1/jobs/{id}",
    params(("id" = String, Path, description = "the job"), ("wait" = Option<u64>, Query, description = "seconds, up to 60")),
    responses((status = 200, body = Seen), (status = 404, body = Problem)))]
pub(crate) async fn see(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    waiting: Result<Query<Waiting>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Seen>, ServeError> {
    caller.need(Scope::Read)?;
    let Query(waiting) =
        waiting.map_err(|_| ServeError::bad("Query", "wait is a whole number of seconds"))?;
    let until = Instant::now() + Duration::from_secs(waiting.wait.unwrap_or(0).min(LONGEST_WAIT));
    loop {
        // Before the job is read, so that no change is missed.
        let changed = app.runs.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let name = id.clone();
        let job = app.store.read(move |t| jobs::get(t, caller.tenant, &name)).await?;
        if !job.is_open() || app.is_draining() || Instant::now() >= until {
            return Ok(Json(seen(&app, job)));
        }
        // The database alone knows what another node does.
        let next = if app.store.is_shared() { until.min(Instant::now() + ELSEWHERE) } else { until };
        let _ = timeout_at(next, changed).await;
    }
}

/// A signed statement on the results of a job that is done.
#[utoipa::path(get, path = "/v1/jobs/{id}/receipt", params(("id" = String, Path, description = "the job")),
    responses((status = 200, body = Receipt), (status = 404, body = Problem)))]
pub(crate) async fn receipt(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Receipt>, ServeError> {
    caller.need(Scope::Read)?;
    let job = app.store.read(move |t| jobs::get(t, caller.tenant, &id)).await?;
    let none = ServeError::NotFound { what: "receipt before a job is done" };
    app.signer.receipt(&job).map(Json).ok_or(none)
}

/// The public part of the key that signs receipts: keep it, and compare it with that of each receipt.
#[utoipa::path(get, path = "/v1/signing-key", security(()), responses((status = 200, body = SigningKey)))]
pub(crate) async fn signing_key(State(app): State<Arc<App>>) -> Json<SigningKey> {
    Json(app.signer.public())
}

/// Progress of a job as server-sent events, until it has ended: `job` with the job at each change, `refused` with a problem when the
/// token holds no more.
#[utoipa::path(get, path = "/v1/jobs/{id}/events", params(("id" = String, Path, description = "the job")),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem)))]
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ServeError> {
    caller.need(Scope::Read)?;
    let (tenant, name) = (caller.tenant, id.clone());
    app.store.read(move |t| jobs::get(t, tenant, &name)).await?;
    let stream = unfold(Watched { app, caller, id, last: String::new(), over: false }, |mut watched| async {
        let event = watched.next().await?;
        Some((Ok::<_, Infallible>(event), watched))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
}

/// A job that is watched.
struct Watched {
    app: Arc<App>,
    caller: Caller,
    id: String,
    /// What was said last.
    last: String,
    over: bool,
}

impl Watched {
    /// The next event; none after the job has ended or the service goes down.
    async fn next(&mut self) -> Option<Event> {
        while !self.over {
            // Before the job is read, so that no change is missed.
            let (changed, moved) = (self.app.runs.changed.notified(), self.app.runs.moved.notified());
            tokio::pin!(changed, moved);
            changed.as_mut().enable();
            moved.as_mut().enable();
            let (caller, id) = (self.caller.clone(), self.id.clone());
            let read = self.app.store.read(move |t| match tenants::holds(t, &caller)? {
                true => jobs::get(t, caller.tenant, &id),
                false => Err(ServeError::Unauthorized),
            });
            let (name, text) = match read.await {
                Ok(job) => {
                    self.over = !job.is_open() || self.app.is_draining();
                    ("job", serde_json::to_string(&seen(&self.app, job)).ok()?)
                }
                Err(error) => {
                    self.over = true;
                    ("refused", error.problem().to_string())
                }
            };
            if text != self.last {
                self.last.clone_from(&text);
                return Some(Event::default().event(name).data(text));
            }
            if !self.over {
                let again = if self.app.store.is_shared() { ELSEWHERE } else { AGAIN };
                let _ = timeout(again, async {
                    tokio::select! {
                        () = changed => {}
                        () = moved => sleep(OFTEN).await,
                    }
                })
                .await;
            }
        }
        None
    }
}

/// Cancels a job; one that has ended stays as it is.
#[utoipa::path(delete, path = "/v1/jobs/{id}", params(("id" = String, Path, description = "the job")),
    responses((status = 200, body = Seen), (status = 404, body = Problem)))]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Seen>, ServeError> {
    caller.need(Scope::Run)?;
    let name = id.clone();
    let job = app.store.run(move |t| jobs::cancel(t, &caller, &name)).await?;
    app.runs.cancel(&id);
    Ok(Json(seen(&app, job)))
}
