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
use std::time::Instant;

use axum::Router;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{delete, get, post, put};

use crate::app::App;
use crate::error::{Code, ServeError};
pub(crate) use crate::http::api::Problem;
use crate::store::tenants;
use crate::token::Caller;

/// A small body, of a description and no object.
const SMALL: usize = 1 << 16;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
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
        .route("/v1/tenant", get(admin::tenant).delete(admin::remove))
        .route("/v1/tokens", get(admin::list).post(admin::add))
        .route("/v1/tokens/{id}", delete(admin::revoke))
        .fallback(|| async { ServeError::NotFound { what: "such path" } })
        .method_not_allowed_fallback(|| async { ServeError::Method })
        .layer(from_fn_with_state(app.clone(), observe))
        .with_state(app)
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

/// The trace that a request is part of, by the header `traceparent` of W3C: 32 hexadecimal digits, which are not all 0.
fn trace(headers: &HeaderMap) -> Option<String> {
    let mut parts = headers.get("traceparent")?.to_str().ok()?.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, size: usize| {
        text.len() == size && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let whole = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    // Later versions may add parts; 00 has none, and ff is none.
    let known = version != "ff" && (version != "00" || parts.next().is_none());
    let named = [trace, parent].iter().all(|text| text.bytes().any(|b| b != b'0'));
    (whole && known && named).then(|| trace.to_owned())
}

/// Counts and logs a request. Of its address no more than the route is kept: neither names nor hashes.
async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().as_str().to_owned();
    let id = crate::store::random_id().unwrap_or_default();
    let trace = trace(request.headers());
    let mut response = next.run(request).await;
    let seconds = start.elapsed().as_secs_f64();
    let status = response.status();
    // Methods are words of a client.
    let known =
        ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"].into_iter().find(|m| *m == method);
    let method = known.unwrap_or("other");
    app.metrics.requests.with_label_values(&[method, &route, status.as_str()]).inc();
    app.metrics.request_seconds.with_label_values(&[&route]).observe(seconds);
    let code = response.extensions().get::<Code>().map(|code| code.0.clone());
    if let Some(code) = &code {
        app.metrics.refusals.with_label_values(&[code]).inc();
    }
    tracing::info!(request = id, trace, method, route, status = status.as_u16(), seconds, code, "request");
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the recommendation, and what it says is to be ignored.
    #[test]
    fn traces_are_those_of_the_recommendation() {
        let of = |text: &'static str| {
            let value = HeaderValue::from_static(text);
            trace(&HeaderMap::from_iter([(HeaderName::from_static("traceparent"), value)]))
        };
        let right = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap(), right);
        assert_eq!(of("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").unwrap(), right);
        for wrong in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
