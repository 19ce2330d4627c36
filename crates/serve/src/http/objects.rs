//! Objects: stored once, fetched by the tenant that stored them.

use std::io::Read;
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::blobs::is_hash;
use crate::collect;
use crate::error::ServeError;
use crate::http::{Problem, body};
use crate::store::objects::{Kind, Object};
use crate::store::{audit, expiry, key_sets, objects, random_id, spawned, uploads};
use crate::token::{Caller, Scope};
use crate::worker::protocol::Answer;

/// Bytes of a piece of a response.
const PIECE: usize = 1 << 18;

/// What the header of an object is called that says what it is.
const KIND: HeaderName = HeaderName::from_static("ringmill-kind");

/// The tenant's objects, the newest first.
#[utoipa::path(get, path = "/v1/objects", responses((status = 200, body = [Object])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Vec<Object>>, ServeError> {
    caller.need(Scope::Read)?;
    let objects = app.store.read(move |t| objects::list(t, caller.tenant)).await?;
    Ok(Json(objects.into_iter().map(|object| dated(&app, object)).collect()))
}

/// With the time at which it ends.
fn dated(app: &App, object: Object) -> Object {
    Object { expires: expiry::ends(&app.config.keep, &object), ..object }
}

async fn found(app: &App, caller: &Caller, hash: &str) -> Result<Object, ServeError> {
    let (tenant, hash) = (caller.tenant, hash.to_owned());
    let object = app.store.read(move |t| objects::get(t, tenant, &hash)).await?;
    object.ok_or(ServeError::NotFound { what: "object of this hash" })
}

fn headers(object: &Object) -> Result<HeaderMap, ServeError> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(object.size));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(KIND, HeaderValue::from_static(object.kind.name()));
    let tag = HeaderValue::from_str(&format!("\"{}\"", object.hash));
    headers.insert(header::ETAG, tag.map_err(|e| ServeError::Worker { why: e.to_string() })?);
    Ok(headers)
}

/// Whether there is an object, so that it need not be sent.
#[utoipa::path(head, path = "/v1/objects/{hash}", params(("hash" = String, Path, description = "BLAKE3 of the bytes")),
    responses((status = 200, description = "There is."), (status = 404, description = "There is not.")))]
pub(crate) async fn head(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
) -> Result<Response, ServeError> {
    if !caller.scopes.contains(&Scope::Upload) {
        caller.need(Scope::Read)?;
    }
    let object = found(&app, &caller, &hash).await?;
    Ok(headers(&object)?.into_response())
}

/// The bytes of an object.
#[utoipa::path(get, path = "/v1/objects/{hash}", params(("hash" = String, Path, description = "BLAKE3 of the bytes")),
    responses((status = 200, description = "The bytes.", content_type = "application/octet-stream")))]
pub(crate) async fn fetch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
) -> Result<Response, ServeError> {
    caller.need(Scope::Read)?;
    let object = found(&app, &caller, &hash).await?;
    let (blobs, tenant, wanted) = (app.blobs.clone(), caller.tenant, object.hash.clone());
    let opened =
        spawned(move || blobs.source(tenant, &wanted)?.open().map_err(ServeError::io("opening an object")));
    let file = opened.await?;
    if let Err(error) = app.store.lightly(move |t| objects::touch(t, caller.tenant, &hash)).await {
        // A disk that is full is read.
        tracing::warn!(%error, "the use of an object was not noted");
    }
    let counted = app.clone();
    let pieces = stream::try_unfold(file, move |mut file| {
        let app = counted.clone();
        async move {
            let read = move || {
                let mut piece = Vec::with_capacity(PIECE);
                (&mut file).take(PIECE as u64).read_to_end(&mut piece)?;
                Ok::<_, std::io::Error>((piece, file))
            };
            let (piece, file) = spawn_blocking(read).await.map_err(std::io::Error::other)??;
            app.metrics.bytes.with_label_values(&["out"]).inc_by(piece.len() as u64);
            Ok::<_, std::io::Error>((!piece.is_empty()).then_some((piece, file)))
        }
    });
    Ok((headers(&object)?, Body::from_stream(pieces)).into_response())
}

/// Stores an object. Stored already, nothing happens.
#[utoipa::path(put, path = "/v1/objects/{hash}", params(("hash" = String, Path, description = "BLAKE3 of the bytes")),
    request_body(content_type = "application/octet-stream"),
    responses((status = 201, body = Object, description = "It is."), (status = 200, body = Object, description = "It was already."),
        (status = 413, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn store(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ServeError> {
    caller.need(Scope::Upload)?;
    if !is_hash(&hash) {
        return Err(ServeError::bad(
            "Hash",
            "an object is named by its BLAKE3: 64 hexadecimal digits in lower case",
        ));
    }
    let (tenant, wanted) = (caller.tenant, hash.clone());
    if let Some(object) = app.store.read(move |t| objects::get(t, tenant, &wanted)).await? {
        return Ok((StatusCode::OK, Json(dated(&app, object))).into_response());
    }
    let _slot = app.slots.try_acquire().map_err(|_| ServeError::Busy)?;
    room_on_disk(&app)?;
    let most = app.config.max_object;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if let Some(found) = announced {
        if found > most {
            return Err(ServeError::TooLarge { what: "the object", found, most });
        }
        app.store.run(move |t| objects::room(t, tenant, found)).await?;
    }
    let id = random_id()?;
    let path = app.blobs.work(&id);
    let place = body::Place { tenant, path: path.clone(), offset: None, most, whole: true };
    let appended = body::append(&app, place, body, None).await;
    let stored = match appended {
        Ok(_) => finish(&app, &caller, &path, Some(&hash), None).await,
        Err(error) => Err(error),
    };
    app.blobs.remove(&path);
    Ok((StatusCode::CREATED, Json(dated(&app, stored?))).into_response())
}

/// Makes a complete file an object of the caller, if a worker finds it to be one; ends the upload that it was.
pub(crate) async fn finish(
    app: &App,
    caller: &Caller,
    path: &FilePath,
    expected: Option<&str>,
    upload: Option<&str>,
) -> Result<Object, ServeError> {
    let (kind, hash, size, facts) = match app.check(caller.tenant, path.to_owned()).await? {
        Answer::Known { kind, hash, size, facts } => (kind, hash, size, facts),
        Answer::Failed(failure) => {
            if failure.code == "SecretKey" {
                app.metrics.secret_keys.inc();
                return Err(ServeError::SecretKey);
            }
            // A file that ends a worker is refused as one that is damaged is: the client has to send another.
            return Err(ServeError::Refused { code: failure.code, message: failure.message });
        }
        _ => return Err(ServeError::Worker { why: "a check was not answered".into() }),
    };
    if let Some(expected) = expected
        && expected != hash
    {
        return Err(ServeError::HashMismatch { expected: expected.to_owned(), found: hash });
    }
    let object = Object::new(kind, hash, size, facts);
    let (mut kept, by, blobs, path) = (object, caller.clone(), app.blobs.clone(), path.to_owned());
    let upload = upload.map(str::to_owned);
    {
        let (blobs, path, tenant, hash) = (blobs.clone(), path.clone(), by.tenant, kept.hash.clone());
        spawned(move || {
            blobs.name(tenant, &path, &hash, size)?;
            blobs.send(&path, tenant, &hash)
        })
        .await?;
    }
    app.store
        .run(move |t| {
            if let Some(id) = upload {
                // Its bytes count as those of an object from now on.
                uploads::remove(t, &id)?;
            }
            t.lock_tenant(by.tenant)?;
            if objects::get(t, by.tenant, &kept.hash)?.is_none() {
                if kept.kind == Kind::KeySet {
                    kept.facts = key_sets::facts(t, by.tenant, &kept.facts)?;
                }
                objects::room(t, by.tenant, kept.size)?;
                if key_sets::is_set(kept.kind, &kept.facts) {
                    key_sets::room(t, by.tenant)?;
                }
                objects::add(t, by.tenant, &kept, true)?;
                blobs.confirm(&path, by.tenant, &kept.hash, kept.size)?;
                blobs.keep(&path, by.tenant, &kept.hash)?;
                audit::note(t, Some(&by), "object.add", &kept.hash)?;
            }
            Ok(kept)
        })
        .await
}

/// Refuses to store more when the disk is nearly full; what is stored can be read.
pub(crate) fn room_on_disk(app: &App) -> Result<(), ServeError> {
    if app.is_draining() {
        return Err(ServeError::Draining);
    }
    if app.blobs.is_full(app.config.disk_free)? { Err(ServeError::DiskFull) } else { Ok(()) }
}

/// Removes an object that no open job needs.
#[utoipa::path(delete, path = "/v1/objects/{hash}", params(("hash" = String, Path, description = "BLAKE3 of the bytes")),
    responses((status = 204, description = "It is gone."), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
) -> Result<StatusCode, ServeError> {
    caller.need(Scope::Upload)?;
    let (store, blobs) = (app.store.clone(), app.blobs.clone());
    let removed = spawn_blocking(move || {
        // Results that came from it cannot be computed again without it.
        collect::settle(&store, &blobs)?;
        store.now(|t| objects::delete(t, &caller, &hash))?;
        collect::collect(&store, &blobs)
    });
    removed.await.map_err(|e| ServeError::Worker { why: e.to_string() })??;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether an object is kept.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    /// Whether it stays whatever its age.
    pinned: bool,
}

/// Keeps an object whatever its age, or no longer.
#[utoipa::path(patch, path = "/v1/objects/{hash}", params(("hash" = String, Path, description = "BLAKE3 of the bytes")),
    request_body = Pin, responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn pin(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
    body: Body,
) -> Result<Json<Object>, ServeError> {
    caller.need(Scope::Upload)?;
    let Pin { pinned } = body::json(&app, body).await?;
    let object = app.store.run(move |t| objects::pin(t, &caller, &hash, pinned)).await?;
    Ok(Json(dated(&app, object)))
}

/// A file of keys or a set of them, by its hash; null if nothing is stored yet.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Having {
    keys: Option<String>,
}

/// What a program needs and a file of keys lacks.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Missing {
    /// Names, as "rotation by 3".
    missing: Vec<String>,
}

/// The keys that a program needs and a file of keys lacks.
#[utoipa::path(post, path = "/v1/programs/{hash}/missing-keys",
    params(("hash" = String, Path, description = "BLAKE3 of the kernel file")), request_body = Having,
    responses((status = 200, body = Missing), (status = 404, body = Problem)))]
pub(crate) async fn missing_keys(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(hash): Path<String>,
    body: Body,
) -> Result<Json<Missing>, ServeError> {
    caller.need(Scope::Run)?;
    let having: Having = body::json(&app, body).await?;
    let program = found(&app, &caller, &hash).await?;
    let keys = match having.keys {
        Some(hash) => found(&app, &caller, &hash).await?.facts,
        None => Value::Null,
    };
    Ok(Json(Missing { missing: missing(&program.facts, &keys) }))
}

/// The keys that the facts of a program ask for and those of a file do not have, by name.
pub(crate) fn missing(program: &Value, keys: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for (name, word) in [("relin", "relinearisation"), ("encapsulation", "encapsulation")] {
        if program[name] == Value::Bool(true) && keys[name] != Value::Bool(true) {
            missing.push(word.to_owned());
        }
    }
    let there = keys["galois"].as_array().map_or(&[][..], Vec::as_slice);
    for (steps, element) in program["galois"].as_object().into_iter().flatten() {
        if !there.contains(element) {
            missing.push(if steps == "0" {
                "conjugation".to_owned()
            } else {
                format!("rotation by {steps}")
            });
        }
    }
    missing
}

/// Of a kind that a job takes there.
pub(crate) fn of_kind(object: Option<Object>, kind: Kind) -> Result<Object, ServeError> {
    let name = kind.name();
    match object {
        Some(object) if object.kind == kind => Ok(object),
        Some(object) => Err(ServeError::Refused {
            code: "WrongKind".into(),
            message: format!("what is given as {name} is an object of kind {}", object.kind.name()),
        }),
        None => Err(ServeError::Refused {
            code: "NoObject".into(),
            message: format!("there is no object of the hash that is given as {name}; store it first"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_keys_are_named() {
        let program =
            json!({ "relin": true, "galois": { "0": 2047, "3": 125, "4": 625 }, "encapsulation": false });
        assert_eq!(
            missing(&program, &json!({ "relin": true, "galois": [625, 125, 2047] })),
            Vec::<String>::new()
        );
        assert_eq!(
            missing(&program, &json!({ "galois": [625] })),
            ["relinearisation", "conjugation", "rotation by 3"]
        );
        assert_eq!(missing(&program, &Value::Null).len(), 4);
    }
}
