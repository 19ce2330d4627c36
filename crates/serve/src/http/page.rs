//! The page of a tenant: programs, keys, runs and storage. Three files within the binary; nothing else is loaded.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::error::ServeError;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPT: &str = include_str!("../page/page.js");

/// What the page may load and speak to: this service alone. No other page may show it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn sent(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    (headers.map(|(name, value)| (name, HeaderValue::from_static(value))), text).into_response()
}

/// The page. It asks for a token, which it keeps until its tab is closed.
pub(crate) async fn page() -> Response {
    sent("text/html; charset=utf-8", PAGE)
}

/// Its style and its script.
pub(crate) async fn part(Path(name): Path<String>) -> Result<Response, ServeError> {
    match &name[..] {
        "page.css" => Ok(sent("text/css; charset=utf-8", STYLE)),
        "page.js" => Ok(sent("text/javascript; charset=utf-8", SCRIPT)),
        _ => Err(ServeError::NotFound { what: "such path" }),
    }
}
