//! Resumable uploads: tus 1.0.0 with creation, creation-with-upload, checksum, expiration and termination.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::app::App;
use crate::blobs::is_hash;
use crate::error::ServeError;
use crate::http::Problem;
use crate::http::body::{Checksum, Place, append as write};
use crate::http::objects::{finish, room_on_disk};
use crate::store::objects::Object;
use crate::store::uploads::{self, Upload};
use crate::store::{now, random_id, spawned};
use crate::token::{Caller, Scope};

const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const LENGTH: HeaderName = HeaderName::from_static("upload-length");
const EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
const METADATA: HeaderName = HeaderName::from_static("upload-metadata");
const CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");
const OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");
const OBJECT: HeaderName = HeaderName::from_static("ringmill-object");
const VERSION: &str = "1.0.0";
const PIECE_TYPE: &str = "application/offset+octet-stream";

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn number(headers: &HeaderMap, name: &HeaderName) -> Result<u64, ServeError> {
    let found = text(headers, name).and_then(|value| value.parse().ok());
    found.ok_or_else(|| {
        ServeError::bad("Header", format!("the header {name} is to be a whole number of bytes"))
    })
}

fn speaks(headers: &HeaderMap) -> Result<(), ServeError> {
    if text(headers, &RESUMABLE) == Some(VERSION) { Ok(()) } else { Err(ServeError::TusVersion) }
}

/// A response with the headers that all have.
fn tus(status: StatusCode, rows: Vec<(HeaderName, String)>) -> Result<Response, ServeError> {
    let mut response = status.into_response();
    let headers = response.headers_mut();
    headers.insert(RESUMABLE, HeaderValue::from_static(VERSION));
    for (name, value) in rows {
        let value = HeaderValue::from_str(&value).map_err(|e| ServeError::Worker { why: e.to_string() })?;
        headers.insert(name, value);
    }
    Ok(response)
}

fn expiry(at: i64) -> (HeaderName, String) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(at.max(0) as u64);
    (EXPIRES, httpdate::fmt_http_date(time))
}

/// What this server can do.
#[utoipa::path(options, path = "/v1/uploads", security(()), responses((status = 204, description = "In its headers.")))]
pub(crate) async fn options(State(app): State<Arc<App>>) -> Result<Response, ServeError> {
    let name = HeaderName::from_static;
    let rows = vec![
        (name("tus-version"), VERSION.to_owned()),
        (name("tus-max-size"), app.config.max_object.to_string()),
        (name("tus-extension"), "creation,creation-with-upload,checksum,expiration,termination".to_owned()),
        (name("tus-checksum-algorithm"), "sha1,blake3".to_owned()),
    ];
    tus(StatusCode::NO_CONTENT, rows)
}

/// An upload that is under way.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Begun {
    /// Its name: it lies at /v1/uploads/ID.
    id: String,
    /// Bytes of the object.
    size: u64,
    /// BLAKE3 that was announced.
    hash: Option<String>,
    /// Seconds since 1970.
    expires: i64,
}

/// The tenant's uploads that are under way at this node: a client that was ended finds where to go on.
#[utoipa::path(get, path = "/v1/uploads", responses((status = 200, body = [Begun])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Vec<Begun>>, ServeError> {
    caller.need(Scope::Upload)?;
    let begun = app.store.read(move |t| uploads::list(t, caller.tenant)).await?;
    let begun = begun.into_iter().filter(|upload| upload.node == app.node);
    let row = |u: Upload| Begun { id: u.id, size: u.size, hash: u.hash, expires: u.expires };
    Ok(Json(begun.map(row).collect()))
}

/// The BLAKE3 that the metadata announces as `hash`.
fn announced(headers: &HeaderMap) -> Result<Option<String>, ServeError> {
    let wrong = || {
        ServeError::bad(
            "Header",
            "upload-metadata is to hold \"hash\" and the base64 of a BLAKE3 in hexadecimal digits",
        )
    };
    for pair in text(headers, &METADATA).unwrap_or_default().split(',') {
        if let Some(("hash", value)) = pair.trim().split_once(' ') {
            let bytes = STANDARD.decode(value.trim()).map_err(|_| wrong())?;
            let hash = String::from_utf8(bytes).map_err(|_| wrong())?;
            return if is_hash(&hash) { Ok(Some(hash)) } else { Err(wrong()) };
        }
    }
    Ok(None)
}

fn checksum(headers: &HeaderMap) -> Result<Option<Checksum>, ServeError> {
    let Some(given) = text(headers, &CHECKSUM) else { return Ok(None) };
    let (algorithm, value) = given.split_once(' ').unwrap_or((given, ""));
    let bytes = STANDARD.decode(value.trim());
    match (algorithm, bytes) {
        ("sha1", Ok(bytes)) => Ok(Some(Checksum::Sha1(bytes))),
        ("blake3", Ok(bytes)) => Ok(Some(Checksum::Blake3(bytes))),
        _ => Err(ServeError::bad("Header", "upload-checksum is to be sha1 or blake3 and its base64")),
    }
}

/// Begins an upload; with a body, also writes its first bytes.
#[utoipa::path(post, path = "/v1/uploads",
    params(("Tus-Resumable" = String, Header, description = "1.0.0"),
        ("Upload-Length" = u64, Header, description = "bytes of the object"),
        ("Upload-Metadata" = Option<String>, Header, description = "`hash` and the base64 of its BLAKE3 in hexadecimal digits")),
    responses((status = 201, description = "Location names the upload."), (status = 413, body = Problem)))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ServeError> {
    caller.need(Scope::Upload)?;
    speaks(&headers)?;
    room_on_disk(&app)?;
    let (size, most) = (number(&headers, &LENGTH)?, app.config.max_object);
    if size > most {
        return Err(ServeError::TooLarge { what: "the object", found: size, most });
    }
    let expires = now() + app.config.upload_ttl;
    let upload = Upload {
        id: random_id()?,
        tenant: caller.tenant,
        size,
        hash: announced(&headers)?,
        verified: None,
        expires,
        node: app.node.clone(),
    };
    let added = upload.clone();
    app.store.run(move |t| uploads::add(t, &added)).await?;
    let (blobs, tenant, path) = (app.blobs.clone(), upload.tenant, app.blobs.upload(&upload.id));
    spawned(move || blobs.begin(tenant, &path).map(drop)).await?;
    let mut rows = vec![(header::LOCATION, format!("/v1/uploads/{}", upload.id)), expiry(expires)];
    if text(&headers, &header::CONTENT_TYPE) == Some(PIECE_TYPE) {
        let _writing = app.writing(&upload.id)?;
        let (offset, object) = piece(&app, &caller, &upload, 0, &headers, body).await?;
        rows.push((OFFSET, offset.to_string()));
        rows.extend(object.map(|object| (OBJECT, object.hash)));
    }
    tus(StatusCode::CREATED, rows)
}

/// An upload of the tenant whose bytes are here.
async fn here(app: &App, tenant: i64, id: String) -> Result<Upload, ServeError> {
    let upload = app.store.run(move |t| uploads::get(t, tenant, &id)).await?;
    if upload.node == app.node { Ok(upload) } else { Err(ServeError::OtherNode { node: upload.node }) }
}

/// The bytes that are there and verified.
async fn there(app: &App, upload: &Upload) -> Result<u64, ServeError> {
    let (blobs, upload) = (app.blobs.clone(), upload.clone());
    spawned(move || {
        let mut file = blobs.resume(upload.tenant, &blobs.upload(&upload.id))?;
        let size = file.size().map_err(ServeError::io("reading an upload"))?;
        match upload.verified {
            // The service was ended in the middle of a piece with a checksum.
            Some(at) if at < size => {
                file.cut(at).map(|()| at).map_err(ServeError::io("shortening an upload"))
            }
            _ => Ok(size),
        }
    })
    .await
}

/// How far an upload is.
#[utoipa::path(head, path = "/v1/uploads/{id}",
    params(("Tus-Resumable" = String, Header, description = "1.0.0"), ("id" = String, Path, description = "the upload")),
    responses((status = 200, description = "Upload-Offset says it.")))]
pub(crate) async fn offset(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ServeError> {
    caller.need(Scope::Upload)?;
    speaks(&headers)?;
    let _writing = app.writing(&id)?;
    let upload = here(&app, caller.tenant, id).await?;
    let offset = there(&app, &upload).await?;
    let rows = vec![(OFFSET, offset.to_string()), (LENGTH, upload.size.to_string()), expiry(upload.expires)];
    tus(StatusCode::OK, rows)
}

/// Goes on with an upload; the last byte makes it an object, which the header Ringmill-Object names.
#[utoipa::path(patch, path = "/v1/uploads/{id}",
    params(("Tus-Resumable" = String, Header, description = "1.0.0"), ("id" = String, Path, description = "the upload"),
        ("Upload-Offset" = u64, Header, description = "where the bytes begin"),
        ("Upload-Checksum" = Option<String>, Header, description = "sha1 or blake3, and its base64")),
    request_body(content_type = "application/offset+octet-stream"),
    responses((status = 204, description = "Upload-Offset says how far it is."), (status = 409, body = Problem), (status = 410, body = Problem),
        (status = 422, body = Problem), (status = 423, body = Problem), (status = 460, body = Problem)))]
pub(crate) async fn append(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ServeError> {
    caller.need(Scope::Upload)?;
    speaks(&headers)?;
    room_on_disk(&app)?;
    if text(&headers, &header::CONTENT_TYPE) != Some(PIECE_TYPE) {
        return Err(ServeError::bad(
            "ContentType",
            format!("the bytes of an upload have the type {PIECE_TYPE}"),
        ));
    }
    let found = number(&headers, &OFFSET)?;
    // Before the upload is read: another request may complete it.
    let _writing = app.writing(&id)?;
    let tenant = caller.tenant;
    let upload = here(&app, tenant, id).await?;
    let (offset, object) = piece(&app, &caller, &upload, found, &headers, body).await?;
    let mut rows = vec![(OFFSET, offset.to_string()), expiry(now() + app.config.upload_ttl)];
    rows.extend(object.map(|object| (OBJECT, object.hash)));
    tus(StatusCode::NO_CONTENT, rows)
}

/// Writes a piece, with the right to write; gives the offset after it, and the object if it was the last.
async fn piece(
    app: &App,
    caller: &Caller,
    upload: &Upload,
    found: u64,
    headers: &HeaderMap,
    body: Body,
) -> Result<(u64, Option<Object>), ServeError> {
    let _slot = app.slots.try_acquire().map_err(|_| ServeError::Busy)?;
    let offset = there(app, upload).await?;
    if found != offset {
        return Err(ServeError::Offset { offset, found });
    }
    let checksum = checksum(headers)?;
    let mark = |verified: Option<u64>| {
        let (id, expires) = (upload.id.clone(), now() + app.config.upload_ttl);
        app.store.run(move |t| uploads::mark(t, &id, verified, expires))
    };
    mark(checksum.as_ref().map(|_| offset)).await?;
    let path = app.blobs.upload(&upload.id);
    let place = Place {
        tenant: upload.tenant,
        path: path.clone(),
        offset: Some(offset),
        most: upload.size - offset,
        whole: false,
    };
    let written = write(app, place, body, checksum.as_ref()).await;
    if matches!(written, Err(ServeError::SecretKey)) {
        forget(app, &upload.id).await?;
    }
    let offset = offset + written?;
    mark(None).await?;
    if offset < upload.size {
        return Ok((offset, None));
    }
    let object = finish(app, caller, &path, upload.hash.as_deref(), Some(&upload.id)).await;
    // Complete, it is an object or nothing: what was refused would be refused again.
    forget(app, &upload.id).await?;
    Ok((offset, Some(object?)))
}

async fn forget(app: &App, id: &str) -> Result<(), ServeError> {
    let gone = id.to_owned();
    app.store.run(move |t| uploads::remove(t, &gone)).await?;
    app.blobs.remove(&app.blobs.upload(id));
    Ok(())
}

/// Ends an upload before it is complete.
#[utoipa::path(delete, path = "/v1/uploads/{id}",
    params(("Tus-Resumable" = String, Header, description = "1.0.0"), ("id" = String, Path, description = "the upload")),
    responses((status = 204, description = "It is gone.")))]
pub(crate) async fn end(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ServeError> {
    caller.need(Scope::Upload)?;
    speaks(&headers)?;
    let _writing = app.writing(&id)?;
    let upload = here(&app, caller.tenant, id).await?;
    forget(&app, &upload.id).await?;
    tus(StatusCode::NO_CONTENT, Vec::new())
}

/// As PATCH or DELETE, for clients that can send neither: tus allows to name it in a header.
#[utoipa::path(post, path = "/v1/uploads/{id}",
    params(("Tus-Resumable" = String, Header, description = "1.0.0"), ("id" = String, Path, description = "the upload"),
        ("X-HTTP-Method-Override" = String, Header, description = "PATCH or DELETE")),
    request_body(content_type = "application/offset+octet-stream"),
    responses((status = 204, description = "As the method that is named."), (status = 400, body = Problem)))]
pub(crate) async fn other(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ServeError> {
    match text(&headers, &OVERRIDE) {
        Some("PATCH") => append(State(app), caller, Path(id), headers, body).await,
        Some("DELETE") => end(State(app), caller, Path(id), headers).await,
        _ => Err(ServeError::bad("Header", "the header x-http-method-override is to be PATCH or DELETE")),
    }
}
