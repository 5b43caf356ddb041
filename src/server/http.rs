//! The HTTP side: accepts connections and says which path does what. `/ws` is the robot's own; other paths
//! answer 404 unless they belong to the simulator.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::routing::any;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::websocket::{self, WebSockets};

/// Connections that ask something over HTTP at once, before they are a WebSocket if ever. More wait to be
/// accepted.
const REQUESTS_MAX: usize = 256;
/// A connection that does not send a whole request in this time is closed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a failed accept: the system is short of something that other connections will give back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The paths of one server: the WebSocket beside those of the command API.
pub(super) fn router(websockets: WebSockets, api: Router) -> Router {
    api.route("/ws", any(websocket::upgrade).with_state(websockets))
}

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(REQUESTS_MAX));
    loop {
        // The places are never closed.
        let place = Arc::clone(&places).acquire_owned().await;
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let router = router.clone();
        tokio::spawn(async move {
            serve(stream, peer, router).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection until it closes or becomes a WebSocket.
async fn serve(stream: TcpStream, peer: SocketAddr, router: Router) {
    // Nagle's algorithm would hold a stream packet back until the one before it is acknowledged.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY: {error}");
    }
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        // The command API asks who is speaking.
        request.extensions_mut().insert(ConnectInfo(peer));
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!("HTTP connection: {error}");
    }
}
