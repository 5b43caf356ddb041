//! The HTTP side: accepts connections and says which path does what. `/ws` is the robot's own; other paths
//! answer 404 unless they belong to the simulator.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::routing::any;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::websocket::{self, WRITE_STALL_MAX, WebSockets};

/// Connections that ask something over HTTP at once, before they are a WebSocket if ever. One more takes the place of
/// the one that has been silent longest; while all are being answered, it waits to be accepted.
const REQUESTS_MAX: usize = 256;
/// A connection that does not send a whole request in this time is closed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// A peer that is silently gone is noticed after about this long without traffic: a question after the first time,
/// then others, none answered.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(10);
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEP_ALIVE_TRIES: u32 = 4;
/// Pause after a failed accept: the system is short of something that other connections will give back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The paths of one server: the WebSocket beside those of the command API.
pub(super) fn router(websockets: WebSockets, api: Router) -> Router {
    api.route("/ws", any(websocket::upgrade).with_state(websockets))
}

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(REQUESTS_MAX));
    let silent = Silent::default();
    let mut number = 0;
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if places.available_permits() == 0 {
            silent.end_oldest();
        }
        // The places are never closed.
        let place = Arc::clone(&places).acquire_owned().await;
        number += 1;
        let (router, asked) = (router.clone(), silent.of(number));
        let task = tokio::spawn(async move {
            serve(stream, peer, router, asked).await;
            drop(place);
        });
        silent.add(number, task.abort_handle());
    }
}

/// Connections that have asked nothing yet, the oldest first: none of them may keep others out.
#[derive(Debug, Clone, Default)]
struct Silent(Arc<Mutex<BTreeMap<u64, Option<AbortHandle>>>>);

/// One of them: it stays silent until a whole request of it is there.
#[derive(Debug, Clone)]
pub(super) struct Asked(Arc<Whose>);

#[derive(Debug)]
struct Whose {
    silent: Silent,
    number: u64,
}

impl Silent {
    /// A connection that is about to be served.
    fn of(&self, number: u64) -> Asked {
        self.lock().insert(number, None);
        Asked(Arc::new(Whose { silent: self.clone(), number }))
    }

    /// How it is ended, unless it has asked already.
    fn add(&self, number: u64, task: AbortHandle) {
        if let Some(silent) = self.lock().get_mut(&number) {
            *silent = Some(task);
        }
    }

    fn end_oldest(&self) {
        if let Some((_, Some(task))) = self.lock().pop_first() {
            task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Option<AbortHandle>>> {
        // Nothing under the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// It has asked something: it keeps its place.
    pub(super) fn now(&self) {
        self.0.silent.lock().remove(&self.0.number);
    }
}

impl Drop for Whose {
    fn drop(&mut self) {
        self.silent.lock().remove(&self.number);
    }
}

/// Answers the requests of a connection until it closes or becomes a WebSocket.
async fn serve(stream: TcpStream, peer: SocketAddr, router: Router, asked: Asked) {
    if let Err(error) = tune(&stream) {
        tracing::debug!("options of a TCP connection: {error}");
    }
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        if request.body().is_end_stream() {
            asked.now();
        }
        // Who reads the body tells when it is there.
        request.extensions_mut().insert(asked.clone());
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

/// Nothing is held back, and a peer that is gone, or reads nothing of what it asked for, loses its place.
fn tune(stream: &TcpStream) -> io::Result<()> {
    // Nagle's algorithm would hold a stream packet back until the one before it is acknowledged.
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE_AFTER).with_interval(KEEP_ALIVE_EVERY);
    socket.set_tcp_keepalive(&keep_alive.with_retries(KEEP_ALIVE_TRIES))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(WRITE_STALL_MAX))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_peer_that_is_gone_or_reads_nothing_is_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_client, (stream, _)) = (client.expect("it listens"), accepted.expect("a client"));
        tune(&stream).expect("options the system has");
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().expect("an option"));
        #[cfg(target_os = "linux")]
        {
            assert_eq!(socket.tcp_keepalive_time().expect("an option"), KEEP_ALIVE_AFTER);
            assert_eq!(socket.tcp_user_timeout().expect("an option"), Some(WRITE_STALL_MAX));
        }
    }
}
