//! Refusals and failures: each has a status, a code that stays the same between versions, and a sentence.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// Why a request was not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message names its fields
pub enum ServeError {
    #[error("no token, or one that is not valid any more; give it as \"Authorization: Bearer TOKEN\"")]
    Unauthorized,
    #[error("the token lacks the scope {scope:?}; ask for one that has it")]
    Scope { scope: &'static str },
    #[error("this path has other methods; /openapi.json lists them")]
    Method,
    #[error("there is no {what} here")]
    NotFound { what: &'static str },
    #[error("{why}")]
    Bad { code: &'static str, why: String },
    #[error("{what} is {found} bytes; at most {most} are taken")]
    TooLarge { what: &'static str, found: u64, most: u64 },
    #[error("the bytes have BLAKE3 {found}, but {expected} was announced; send them again")]
    HashMismatch { expected: String, found: String },
    #[error(
        "this is a secret key. It was not stored. Its holder reads everything that was encrypted under it: a server never needs it"
    )]
    SecretKey,
    #[error("{message}")]
    Refused { code: String, message: String },
    #[error(
        "the tenant may store {most} bytes, holds {held} and asks for {asked}; delete what is not needed"
    )]
    QuotaBytes { most: u64, held: u64, asked: u64 },
    #[error("the tenant may have {most} open jobs and has them; wait for one to end, or cancel one")]
    QuotaJobs { most: u64 },
    #[error("the tenant may store {most} sets of evaluation keys and does; delete one that is not needed")]
    QuotaKeys { most: u64 },
    #[error(
        "the tenant may ask for {most:.0} predicted core-seconds a day, asked for {used:.0} and asks for {asked:.1}; {}",
        if asked > most { "ask the operator for more" } else { "try again when a day is over" }
    )]
    QuotaSeconds { most: f64, used: f64, asked: f64, free: u64 },
    #[error("work of {seconds:.0} s is queued, and at most {most:.0} s are; try again later")]
    QueueFull { seconds: f64, most: f64 },
    #[error(
        "the job needs about {needed} bytes of memory, and a worker has {limit}; compile the kernel for smaller parameters"
    )]
    Memory { needed: u64, limit: u64 },
    #[error(
        "the job is predicted to take {predicted:.1} s, and {most:.1} s are the most that one may take here"
    )]
    Seconds { predicted: f64, most: f64 },
    #[error("the program needs evaluation keys that are not in this file: {}; make them by the kernel's own keygen", missing.join(", "))]
    KeysMissing { missing: Vec<String> },
    #[error("the upload has {offset} bytes, and the request goes on at {found}; ask for the offset by HEAD")]
    Offset { offset: u64, found: u64 },
    #[error("the checksum of the bytes is another one; send them again")]
    Checksum,
    #[error("another request writes to this upload; wait for it to end")]
    Locked,
    #[error("another node holds this upload; send its pieces there, or begin a new upload here")]
    OtherNode { node: String },
    #[error("the upload has expired; begin again")]
    Gone,
    #[error("this Idempotency-Key was used for another job; use a new one for each job")]
    Idempotency,
    #[error("this server speaks tus 1.0.0 for uploads; send \"Tus-Resumable: 1.0.0\"")]
    TusVersion,
    #[error("the server's disk is nearly full; try again later")]
    DiskFull,
    #[error("the request took too long to arrive; send it again, or go on with an upload")]
    TooSlow,
    #[error("the request was cut off")]
    CutOff,
    #[error("the server is going down; try again in a moment")]
    Draining,
    #[error("the service is busy; try again in a moment")]
    Busy,
    #[error("the service's bucket is away; try again in a moment")]
    BucketAway,
    #[error("the service's database is away; try again in a moment")]
    DatabaseAway,
    #[error(
        "the certificate of the database is refused: {why}; --database-ca names the file of its authority, and sslmode in the address says what is checked"
    )]
    DatabaseCertificate { why: String },
    #[error(
        "the keys of this service are encrypted under the master key {needed}, and the one that was given is {found}; give the right one, or the one before with --old-master-key-file"
    )]
    MasterKey { found: String, needed: String },
    #[error("the key of tenant {tenant} was changed in the database; restore it from a backup")]
    DataKey { tenant: i64 },
    #[error("the database failed: {0}")]
    Database(String),
    #[error("{action} failed: {source}")]
    Io { action: &'static str, source: std::io::Error },
    #[error("a worker failed: {why}")]
    Worker { why: String },
    #[error("{0}")]
    Start(String),
}

impl From<rusqlite::Error> for ServeError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Database(error.to_string()),
        }
    }
}

impl ServeError {
    /// What makes an error of the system one of ours; a full disk is distinguished apart.
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io { action, source },
        }
    }

    pub(crate) fn bad(code: &'static str, why: impl Into<String>) -> Self {
        Self::Bad { code, why: why.into() }
    }

    /// Status and code.
    pub fn kind(&self) -> (StatusCode, &str) {
        use StatusCode as S;
        match self {
            Self::Unauthorized => (S::UNAUTHORIZED, "Unauthorized"),
            Self::Scope { .. } => (S::FORBIDDEN, "Scope"),
            Self::Method => (S::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
            Self::NotFound { .. } => (S::NOT_FOUND, "NotFound"),
            Self::Bad { code, .. } => (S::BAD_REQUEST, code),
            Self::TooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "TooLarge"),
            Self::HashMismatch { .. } => (S::UNPROCESSABLE_ENTITY, "HashMismatch"),
            Self::SecretKey => (S::UNPROCESSABLE_ENTITY, "SecretKey"),
            Self::Refused { code, .. } => (S::UNPROCESSABLE_ENTITY, code),
            Self::QuotaBytes { .. } => (S::PAYLOAD_TOO_LARGE, "QuotaBytes"),
            Self::QuotaJobs { .. } => (S::TOO_MANY_REQUESTS, "QuotaJobs"),
            Self::QuotaKeys { .. } => (S::FORBIDDEN, "QuotaKeys"),
            // A job that is larger than the quota never fits.
            Self::QuotaSeconds { most, asked, .. } if asked > most => (S::FORBIDDEN, "QuotaSeconds"),
            Self::QuotaSeconds { .. } => (S::TOO_MANY_REQUESTS, "QuotaSeconds"),
            Self::QueueFull { .. } => (S::TOO_MANY_REQUESTS, "QueueFull"),
            Self::Memory { .. } => (S::PAYLOAD_TOO_LARGE, "Memory"),
            Self::Seconds { .. } => (S::PAYLOAD_TOO_LARGE, "Seconds"),
            Self::KeysMissing { .. } => (S::UNPROCESSABLE_ENTITY, "KeysMissing"),
            Self::Offset { .. } => (S::CONFLICT, "Offset"),
            Self::Checksum => (S::from_u16(460).unwrap_or(S::BAD_REQUEST), "Checksum"),
            Self::Locked => (S::LOCKED, "Locked"),
            Self::OtherNode { .. } => (S::MISDIRECTED_REQUEST, "OtherNode"),
            Self::Gone => (S::GONE, "Gone"),
            Self::Idempotency => (S::UNPROCESSABLE_ENTITY, "IdempotencyKey"),
            Self::TusVersion => (S::PRECONDITION_FAILED, "TusVersion"),
            Self::DiskFull => (S::INSUFFICIENT_STORAGE, "DiskFull"),
            Self::TooSlow => (S::REQUEST_TIMEOUT, "TooSlow"),
            Self::CutOff => (S::BAD_REQUEST, "CutOff"),
            Self::Draining => (S::SERVICE_UNAVAILABLE, "Draining"),
            Self::BucketAway => (S::SERVICE_UNAVAILABLE, "BucketAway"),
            Self::DatabaseAway => (S::SERVICE_UNAVAILABLE, "DatabaseAway"),
            Self::Busy => (S::SERVICE_UNAVAILABLE, "Busy"),
            Self::MasterKey { .. } => (S::INTERNAL_SERVER_ERROR, "MasterKey"),
            Self::DataKey { .. } => (S::INTERNAL_SERVER_ERROR, "DataKey"),
            Self::DatabaseCertificate { .. } => (S::INTERNAL_SERVER_ERROR, "DatabaseCertificate"),
            Self::Database(_) | Self::Io { .. } | Self::Worker { .. } | Self::Start(_) => {
                (S::INTERNAL_SERVER_ERROR, "Internal")
            }
        }
    }

    /// Figures that a program can act on.
    fn figures(&self) -> Value {
        match self {
            Self::OtherNode { node } => json!({ "node": node }),
            Self::Offset { offset, .. } => json!({ "offset": offset }),
            Self::QuotaBytes { most, held, asked } => json!({ "most": most, "held": held, "asked": asked }),
            Self::TooLarge { found, most, .. } => json!({ "found": found, "most": most }),
            Self::Memory { needed, limit } => json!({ "needed": needed, "limit": limit }),
            Self::Seconds { predicted, most } => json!({ "predicted": predicted, "most": most }),
            Self::QuotaKeys { most } => json!({ "most": most }),
            Self::QuotaSeconds { most, used, asked, .. } => {
                json!({ "most": most, "used": used, "asked": asked })
            }
            Self::QueueFull { seconds, most } => json!({ "seconds": seconds, "most": most }),
            Self::KeysMissing { missing } => json!({ "missing": missing }),
            Self::HashMismatch { expected, found } => json!({ "expected": expected, "found": found }),
            _ => Value::Null,
        }
    }

    /// Seconds after which a request that was refused for now may be sent again.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::QueueFull { seconds, most } => Some((seconds - most).clamp(1.0, 600.0).ceil() as u64),
            Self::QuotaSeconds { most, asked, free, .. } if asked <= most => Some(*free),
            Self::QuotaJobs { .. }
            | Self::Draining
            | Self::DiskFull
            | Self::BucketAway
            | Self::DatabaseAway => Some(5),
            Self::Busy | Self::Locked => Some(1),
            _ => None,
        }
    }
}

impl ServeError {
    /// The body of a response: problem+json. What the system says stays in the log.
    pub(crate) fn problem(&self) -> Value {
        let (status, code) = self.kind();
        let detail = if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "request failed");
            "the server failed; the request may be sent again".to_owned()
        } else {
            self.to_string()
        };
        let mut body = Map::new();
        body.insert("type".into(), json!(format!("urn:ringmill:problem:{code}")));
        body.insert("title".into(), json!(status.canonical_reason().unwrap_or("Checksum Mismatch")));
        body.insert("status".into(), json!(status.as_u16()));
        body.insert("code".into(), json!(code));
        body.insert("detail".into(), json!(detail));
        if let Value::Object(figures) = self.figures() {
            body.extend(figures);
        }
        Value::Object(body)
    }
}

impl IntoResponse for ServeError {
    fn into_response(self) -> Response {
        let (status, code) = self.kind();
        let code = code.to_owned();
        let mut response = (status, Json(self.problem())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Ok(code) = HeaderValue::from_str(&code) {
            // For answers to HEAD, which have no body.
            headers.insert("ringmill-code", code);
        }
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Code(code));
        response
    }
}

/// The code of a refusal, for counts and the log.
#[derive(Debug, Clone)]
pub(crate) struct Code(pub(crate) String);
