//! The paths of the command API, and the OpenAPI description made from them.

use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router, middleware};
use tokio::sync::broadcast;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::access::{self, Access};
use super::body::BODY_BYTES_MAX;
use super::handlers::{self, Api};
use super::replies::Event;
use super::{events, sessions::Sessions};
use crate::server::inputs::Inputs;

/// The description without the paths, which come from the handlers.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "atom-sim command API",
        description = "Reads the truth of a simulated ATOM and changes what no client of the robot could: faults, time, the arm. \
                       A request may name a session in the header `Atom-Session`; what it started ends with that session. \
                       Errors are JSON with a stable code.",
    ),
    tags(
        (name = "truth", description = "What really is"),
        (name = "time", description = "Virtual time: speed, pause, steps, waits"),
        (name = "faults", description = "What goes wrong"),
        (name = "robot", description = "Button, power, object, pose, reset"),
        (name = "recordings", description = "Files of what happens"),
        (name = "scenarios", description = "Scripted clients, faults and expectations on the served ATOM"),
        (name = "sessions", description = "What belongs together and ends together"),
    )
)]
struct Description;

fn described() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(handlers::truth))
        .routes(routes!(handlers::clock))
        .routes(routes!(handlers::faults, handlers::inject, handlers::clear_faults))
        .routes(routes!(handlers::fault_catalogue))
        .routes(routes!(handlers::clear_fault))
        .routes(routes!(handlers::button))
        .routes(routes!(handlers::power_cycle))
        .routes(routes!(handlers::object))
        .routes(routes!(handlers::pose))
        .routes(routes!(handlers::reset))
        .routes(routes!(handlers::speed))
        .routes(routes!(handlers::pause))
        .routes(routes!(handlers::resume))
        .routes(routes!(handlers::step))
        .routes(routes!(handlers::advance))
        .routes(routes!(handlers::wait))
        .routes(routes!(handlers::recordings, handlers::start_recording))
        .routes(routes!(handlers::end_recording))
        .routes(routes!(handlers::run_scenario))
        .routes(routes!(handlers::start_session))
        .routes(routes!(handlers::end_session))
        .routes(routes!(events::events))
        .routes(routes!(handlers::health))
}

/// The description of the API, as JSON.
///
/// # Errors
/// None in practice: the description is a tree of texts.
pub fn openapi_json() -> serde_json::Result<String> {
    described().into_openapi().to_pretty_json()
}

/// The paths below `/api`.
pub(in crate::server) fn router(
    access: Access,
    inputs: Inputs,
    sessions: Sessions,
    events: broadcast::Sender<Event>,
) -> Router {
    // The description takes half a megabyte of memory and hardly anybody asks for it: it is made when somebody does.
    let (paths, _) = described().split_for_parts();
    let openapi = get(async || Json(described().into_openapi()));
    let guarded = paths
        .route("/api/openapi.json", openapi)
        .route("/api/{*rest}", axum::routing::any(handlers::not_found))
        .method_not_allowed_fallback(handlers::method_not_allowed)
        // Paths outside the API are none of its business.
        .route_layer(middleware::from_fn_with_state(access, access::guard))
        .route_layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(Api { inputs, sessions, events });
    Router::new().merge(guarded)
}
