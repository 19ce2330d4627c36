//! The description of the interface, OpenAPI 3.1.

use axum::http::header;
use axum::response::{IntoResponse, Response as Sent};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, Response};
use utoipa::{Modify, OpenApi};

use crate::error::ServeError;
use crate::http::{admin, health, jobs, objects, uploads};

/// The description of the interface.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Ringmill",
        description = "Programs on encrypted numbers. Objects are immutable and addressed by the BLAKE3 of their bytes; what one tenant \
                       stores, no other sees. Refusals are problem+json (RFC 9457) with a stable `code`."
    ),
    paths(
        health::alive,
        health::ready,
        health::metrics,
        objects::list,
        objects::head,
        objects::fetch,
        objects::store,
        objects::remove,
        objects::pin,
        objects::missing_keys,
        uploads::options,
        uploads::list,
        uploads::create,
        uploads::offset,
        uploads::append,
        uploads::end,
        uploads::other,
        jobs::list,
        jobs::add,
        jobs::see,
        jobs::events,
        jobs::cancel,
        jobs::receipt,
        jobs::signing_key,
        admin::tenant,
        admin::remove,
        admin::list,
        admin::add,
        admin::revoke
    ),
    components(schemas(Problem)),
    security(("token" = [])),
    modifiers(&Common)
)]
struct Api;

/// What all operations have in common.
struct Common;

impl Modify for Common {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("token", scheme);
        for path in api.paths.paths.values_mut() {
            let methods = [&mut path.head, &mut path.get, &mut path.put, &mut path.post, &mut path.patch];
            let methods = methods.into_iter().chain([&mut path.delete, &mut path.options]);
            for operation in methods.flatten() {
                let responses = &mut operation.responses.responses;
                for response in responses.values_mut() {
                    let RefOr::T(response) = response else { continue };
                    let content = std::mem::take(&mut response.content).into_iter();
                    response.content = content.map(|(kind, what)| (refusal(kind, &what), what)).collect();
                }
                let problem = Content::builder().schema(Some(Ref::from_schema_name("Problem"))).build();
                let refused = Response::builder().description("Refused.").content(PROBLEM, problem).build();
                responses.entry("default".to_owned()).or_insert(RefOr::T(refused));
            }
        }
    }
}

/// The type of the body of a refusal (RFC 9457).
const PROBLEM: &str = "application/problem+json";

/// The type of a body, which is that of refusals if it has their schema.
fn refusal(kind: String, what: &RefOr<Content>) -> String {
    let problem = Ref::from_schema_name("Problem");
    match what {
        RefOr::T(Content { schema: Some(RefOr::Ref(found)), .. })
            if found.ref_location == problem.ref_location =>
        {
            PROBLEM.to_owned()
        }
        _ => kind,
    }
}

/// A refusal.
#[derive(utoipa::ToSchema)]
#[allow(dead_code)] // described here, written in error.rs
pub(crate) struct Problem {
    /// urn:ringmill:problem:CODE.
    r#type: String,
    title: String,
    status: u16,
    /// The broken rule, stable between versions.
    code: String,
    /// What is wrong, and what would be right.
    detail: String,
}

/// The description as JSON.
pub(crate) fn openapi() -> Result<String, ServeError> {
    Api::openapi().to_pretty_json().map_err(|e| ServeError::Start(e.to_string()))
}

/// The description as a response.
pub(crate) async fn described() -> Result<Sent, ServeError> {
    Ok(([(header::CONTENT_TYPE, "application/json")], openapi()?).into_response())
}
