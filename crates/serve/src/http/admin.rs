//! A tenant's account and tokens.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::collect;
use crate::config::Keep;
use crate::error::ServeError;
use crate::http::{Problem, body};
use crate::store::tenants::{self, Account, Removed, TokenRow};
use crate::store::{now, spawned};
use crate::token::{Caller, Scope};

/// The longest life of a token, in seconds: ten years.
const LONGEST_LIFE: i64 = 10 * 366 * 24 * 3600;

/// A token that is asked for.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Some of upload, run, read and admin.
    scopes: Vec<String>,
    /// Seconds after which it ends; never if left out.
    expires_in: Option<i64>,
}

/// A new token. It is shown once.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Made {
    id: String,
    token: String,
}

/// What the tenant holds and may hold, and how long things are kept.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Seen {
    #[serde(flatten)]
    account: Account,
    /// Seconds after its last use until an object is removed, by kind, and until an ended job is forgotten; 0 keeps them.
    keep: Keep,
    /// What this token allows.
    scopes: Vec<String>,
    /// Of the service.
    version: String,
    /// By what this node multiplies the model's seconds: its last jobs were that much slower, nine of ten at most.
    pace: f64,
}

/// Who calls: what the tenant holds and may hold.
#[utoipa::path(get, path = "/v1/tenant", responses((status = 200, body = Seen)))]
pub(crate) async fn tenant(State(app): State<Arc<App>>, caller: Caller) -> Result<Json<Seen>, ServeError> {
    caller.need(Scope::Read)?;
    let account = app.store.view(move |t| tenants::account(t, caller.tenant)).await?;
    let scopes = caller.scopes.iter().map(|scope| scope.name().to_owned()).collect();
    let (version, pace) = (env!("CARGO_PKG_VERSION").into(), app.pace.factor());
    Ok(Json(Seen { account, keep: app.config.keep, scopes, version, pace }))
}

/// Which tenant is deleted.
#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// Deletes the caller's tenant for good: its data key, tokens, jobs, objects and uploads. `name` says that it is meant.
#[utoipa::path(delete, path = "/v1/tenant", params(("name" = String, Query, description = "the tenant's name")),
    responses((status = 200, body = Removed), (status = 400, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    caller: Caller,
    named: Result<Query<Named>, QueryRejection>,
) -> Result<Json<Removed>, ServeError> {
    caller.need(Scope::Admin)?;
    let Query(Named { name }) = named
        .map_err(|_| ServeError::bad("Query", "name is to be the name of the tenant that is deleted"))?;
    let shared = app.clone();
    let removed = spawned(move || {
        if shared.store.now(|t| tenants::account(t, caller.tenant))?.name != name {
            return Err(ServeError::Refused {
                code: "TenantName".into(),
                message: "the token is of a tenant of another name; nothing was deleted".into(),
            });
        }
        collect::forget(&shared.store, &shared.blobs, &shared.node, Some(&caller), &name)
    });
    let (tenant, removed) = removed.await?;
    app.runs.forget(tenant, &removed.jobs);
    Ok(Json(removed))
}

/// The tenant's tokens, without what they are.
#[utoipa::path(get, path = "/v1/tokens", responses((status = 200, body = [TokenRow])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Vec<TokenRow>>, ServeError> {
    caller.need(Scope::Admin)?;
    Ok(Json(app.store.read(move |t| tenants::tokens(t, caller.tenant)).await?))
}

/// Makes a token.
#[utoipa::path(post, path = "/v1/tokens", request_body = Asked, responses((status = 201, body = Made), (status = 400, body = Problem)))]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Made>), ServeError> {
    caller.need(Scope::Admin)?;
    let asked: Asked = body::json(&app, body).await?;
    let scopes: Option<Vec<_>> = asked.scopes.iter().map(|name| Scope::parse(name)).collect();
    let scopes = scopes.filter(|scopes| !scopes.is_empty());
    let scopes =
        scopes.ok_or_else(|| ServeError::bad("Scopes", "scopes are some of upload, run, read and admin"))?;
    let expires = match asked.expires_in {
        None => None,
        Some(seconds) if (1..=LONGEST_LIFE).contains(&seconds) => Some(now() + seconds),
        Some(_) => {
            return Err(ServeError::bad("Expiry", "expires_in is 1 or more seconds, ten years at most"));
        }
    };
    let key = app.key.clone();
    let made =
        app.store.run(move |t| tenants::add_token(t, &key, Some(&caller), caller.tenant, &scopes, expires));
    let (id, token) = made.await?;
    Ok((StatusCode::CREATED, Json(Made { id, token })))
}

/// Revokes a token: from now on it opens nothing. Jobs that it started go on.
#[utoipa::path(delete, path = "/v1/tokens/{id}", params(("id" = String, Path, description = "the token's name")),
    responses((status = 204, description = "It is revoked."), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ServeError> {
    caller.need(Scope::Admin)?;
    app.store.run(move |t| tenants::revoke(t, &caller, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
