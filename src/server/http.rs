//! The HTTP side: which path does what. `/ws` is the robot's own; other paths answer 404 unless they belong
//! to the simulator.

use axum::Router;
use axum::routing::any;

use super::websocket::{self, WebSockets};

/// The paths of one server.
pub(super) fn router(websockets: WebSockets) -> Router {
    Router::new().route("/ws", any(websocket::upgrade)).with_state(websockets)
}
