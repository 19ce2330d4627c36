//! The service over HTTP.

pub(crate) mod admin;
pub(crate) mod api;
pub(crate) mod body;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod objects;
pub(crate) mod page;
pub(crate) mod server;
pub(crate) mod uploads;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{delete, get, post, put};
use opentelemetry::trace::{SpanContext, SpanKind};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::App;
use crate::error::{Code, ServeError};
pub(crate) use crate::http::api::Problem;
use crate::store::tenants;
use crate::telemetry;
use crate::token::Caller;

/// How long a browser remembers what a page may do.
const ASKED_AGAIN: Duration = Duration::from_secs(600);

/// A small body, of a description and no object.
const SMALL: usize = 1 << 16;

/// What pages of other origins may send and read, if any may.
fn shared(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    let sent = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        HeaderName::from_static("idempotency-key"),
        HeaderName::from_static("traceparent"),
        HeaderName::from_static("tus-resumable"),
        HeaderName::from_static("upload-checksum"),
        HeaderName::from_static("upload-length"),
        HeaderName::from_static("upload-metadata"),
        HeaderName::from_static("upload-offset"),
    ];
    let read = [
        header::LOCATION,
        header::RETRY_AFTER,
        HeaderName::from_static("ringmill-code"),
        HeaderName::from_static("ringmill-kind"),
        HeaderName::from_static("tus-resumable"),
        HeaderName::from_static("tus-version"),
        HeaderName::from_static("tus-extension"),
        HeaderName::from_static("tus-max-size"),
        HeaderName::from_static("upload-expires"),
        HeaderName::from_static("upload-length"),
        HeaderName::from_static("upload-offset"),
    ];
    let methods = [Method::GET, Method::HEAD, Method::PUT, Method::POST, Method::PATCH, Method::DELETE];
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods(methods)
        .allow_headers(sent)
        .expose_headers(read)
        .max_age(ASKED_AGAIN)
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let router = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(api::described))
        .route("/", get(page::page))
        .route("/page/{name}", get(page::part))
        .route("/v1/objects", get(objects::list))
        .route(
            "/v1/objects/{hash}",
            put(objects::store)
                .get(objects::fetch)
                .head(objects::head)
                .delete(objects::remove)
                .patch(objects::pin),
        )
        .route("/v1/programs/{hash}/missing-keys", post(objects::missing_keys))
        .route("/v1/uploads", post(uploads::create).options(uploads::options).get(uploads::list))
        .route(
            "/v1/uploads/{id}",
            post(uploads::other).head(uploads::offset).patch(uploads::append).delete(uploads::end),
        )
        .route("/v1/jobs", get(jobs::list).post(jobs::add))
        .route("/v1/jobs/{id}", get(jobs::see).delete(jobs::cancel))
        .route("/v1/jobs/{id}/events", get(jobs::events))
        .route("/v1/jobs/{id}/receipt", get(jobs::receipt))
        .route("/v1/signing-key", get(jobs::signing_key))
        .route("/v1/tenant", get(admin::tenant).delete(admin::remove))
        .route("/v1/tokens", get(admin::list).post(admin::add))
        .route("/v1/tokens/{id}", delete(admin::revoke))
        .fallback(|| async { ServeError::NotFound { what: "such path" } })
        .method_not_allowed_fallback(|| async { ServeError::Method })
        .layer(from_fn_with_state(app.clone(), observe));
    let router = match &app.config.origins[..] {
        [] => router,
        origins => router.layer(shared(origins)),
    };
    router.with_state(app)
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = ServeError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ServeError> {
        let given = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ServeError::Unauthorized)?;
        let hash = app.key.hash(token.trim());
        let caller =
            app.store.read(move |t| tenants::caller(t, &hash)).await?.ok_or(ServeError::Unauthorized)?;
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

/// The parent of what a request begins.
#[derive(Debug, Clone)]
pub(crate) struct Traced(pub(crate) Option<SpanContext>);

/// Counts and logs a request. Of its address no more than the route is kept: neither names nor hashes.
async fn observe(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().as_str();
    // Methods are words of a client.
    let known =
        ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"].into_iter().find(|m| *m == method);
    let method = known.unwrap_or("other");
    let id = crate::store::random_id().unwrap_or_default();
    let parent = request.headers().get("traceparent").and_then(|text| telemetry::parse(text.to_str().ok()?));
    let mut part = app.telemetry.begin(&format!("{method} {route}"), SpanKind::Server, parent.as_ref());
    request.extensions_mut().insert(Traced(part.context()));
    let mut response = next.run(request).await;
    let seconds = start.elapsed().as_secs_f64();
    let status = response.status();
    app.metrics.requests.with_label_values(&[method, &route, status.as_str()]).inc();
    app.metrics.request_seconds.with_label_values(&[&route]).observe(seconds);
    let code = response.extensions().get::<Code>().map(|code| code.0.clone());
    if let Some(code) = &code {
        app.metrics.refusals.with_label_values(&[code]).inc();
    }
    part.set("http.request.method", method);
    part.set("http.route", route.clone());
    part.set("http.response.status_code", i64::from(status.as_u16()));
    match &code {
        Some(code) if status.is_server_error() => part.fail(code),
        Some(code) => part.set("ringmill.code", code.clone()),
        None => {}
    }
    let trace = part.trace();
    drop(part);
    tracing::info!(request = id, trace, method, route, status = status.as_u16(), seconds, code, "request");
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
