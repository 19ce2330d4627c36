//! Whether the service lives, whether it takes work, and its figures.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::error::ServeError;
use crate::http::Problem;
use crate::store::jobs;
use crate::token::{Caller, Scope};

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", security(()), responses((status = 200, description = "It does.", content_type = "text/plain", body = String)))]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether it takes work: database, disk, and not going down.
#[utoipa::path(get, path = "/readyz", security(()), responses(
    (status = 200, description = "It does.", body = Value), (status = 503, description = "It goes down.", body = Problem), (status = 507, description = "The disk is full.", body = Problem)
))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, ServeError> {
    if app.is_draining() {
        return Err(ServeError::Draining);
    }
    let (queued, running, _) = app.store.read(jobs::load).await?;
    if app.blobs.is_full(app.config.disk_free)? {
        return Err(ServeError::DiskFull);
    }
    let free = app.blobs.free()?;
    Ok(Json(json!({ "queued": queued, "running": running, "disk_free": free })))
}

/// Figures for Prometheus; takes the scope admin.
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "Text.", content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, ServeError> {
    caller.need(Scope::Admin)?;
    let load = app.store.read(jobs::load).await?;
    let text = app.metrics.text(load, app.blobs.free()?)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
