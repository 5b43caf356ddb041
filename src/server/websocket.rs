//! One WebSocket connection: binary frames in, messages and status log lines out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;

use super::clients::{self, ConnectionNumber, Outgoing};
use super::inputs::{Input, Inputs, Share, SimulationEnded};

/// Longest WebSocket message that is taken (bytes); a longer one closes its connection with 1009.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// A client that reads nothing at all for this long is closed, or it would keep its place for ever.
pub const WRITE_STALL_MAX: Duration = Duration::from_secs(30);
/// After a close frame the connection stays open this long, so that the client can read why.
const CLOSE_LINGER: Duration = Duration::from_millis(500);
/// Read buffer of a connection (bytes): messages are small, and there may be hundreds of connections.
const READ_BUFFER_BYTES: usize = 2048;

/// What waits for a client inside its connection (bytes): a message or a few. Pongs to a client that does not read
/// gather here; beyond this only the latest is kept.
const WRITE_BUFFER_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;

/// What all WebSocket connections of a server share.
#[derive(Debug, Clone)]
pub(super) struct WebSockets {
    inputs: Inputs,
    places: Arc<Semaphore>,
    numbers: Arc<AtomicU64>,
    stop: watch::Receiver<bool>,
    there: Presence,
}

/// Whether the ATOM has a WebSocket: the oldest firmware has none, and a reset may change the firmware.
#[derive(Debug, Clone)]
pub(super) struct Presence(Arc<AtomicBool>);

impl Presence {
    pub(super) fn new(there: bool) -> Self {
        Self(Arc::new(AtomicBool::new(there)))
    }

    pub(super) fn set(&self, there: bool) {
        self.0.store(there, Ordering::Relaxed);
    }

    fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl WebSockets {
    /// At most `connections_max` at once, while the ATOM has a WebSocket; `stop` turning true closes them all.
    pub(super) fn new(
        inputs: Inputs,
        connections_max: usize,
        stop: watch::Receiver<bool>,
        there: Presence,
    ) -> Self {
        let places = Arc::new(Semaphore::new(connections_max));
        Self { inputs, places, numbers: Arc::default(), stop, there }
    }

    /// The places for connections: all are free once every connection has ended.
    pub(super) fn places(&self) -> Arc<Semaphore> {
        Arc::clone(&self.places)
    }
}

/// Answers a request for `/ws`. Every web origin may connect, as on the robot.
pub(super) async fn upgrade(
    State(websockets): State<WebSockets>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if !websockets.there.is_there() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Ok(place) = Arc::clone(&websockets.places).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "all WebSocket connections of this ATOM are taken\n")
            .into_response();
    };
    upgrade
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .max_message_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| serve(socket, websockets, place))
}

/// Why a connection ends, as a WebSocket close code; `None` when the client closed it or is gone.
type Ending = Option<(u16, &'static str)>;

async fn serve(socket: WebSocket, websockets: WebSockets, place: OwnedSemaphorePermit) {
    let WebSockets { inputs, numbers, mut stop, .. } = websockets;
    let connection = numbers.fetch_add(1, Ordering::Relaxed);
    let (outbox, waiting) = clients::outbox();
    if inputs.post(Input::Opened { connection, outbox }).is_err() {
        return;
    }
    let (mut sink, stream) = socket.split();
    // Reading never waits for writing: the STOP of a client that does not read must arrive.
    let ending = tokio::select! {
        ending = read(stream, connection, &inputs) => ending,
        ending = write(&mut sink, waiting) => ending,
        _ = stop.wait_for(|stop| *stop) => Some((close_code::AWAY, "the simulator stops")),
    };
    // The ATOM learns at once; the client may take its time. An ended simulation needs no telling.
    let _ = inputs.post(Input::Closed { connection });
    if let Some((code, reason)) = ending {
        tracing::debug!("WebSocket connection closed with {code}: {reason}");
        let frame = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
        if let Ok(Ok(())) = timeout(CLOSE_LINGER, sink.send(frame)).await {
            tokio::time::sleep(CLOSE_LINGER).await;
        }
    }
    drop(place);
}

/// Takes messages until the connection ends. Text, empty messages, pings and pongs are no messages to the ATOM.
async fn read(mut stream: SplitStream<WebSocket>, connection: ConnectionNumber, inputs: &Inputs) -> Ending {
    let share = Share::of_websocket();
    while let Some(frame) = stream.next().await {
        match frame {
            Ok(Message::Binary(bytes)) if !bytes.is_empty() => {
                let message = Input::Message { connection, bytes: bytes.to_vec() };
                if let Err(SimulationEnded) = inputs.post_within(&share, message).await {
                    return Some((close_code::AWAY, "the simulator stops"));
                }
            }
            Ok(
                Message::Binary(_)
                | Message::Text(_)
                | Message::Ping(_)
                | Message::Pong(_)
                | Message::Close(_),
            ) => {}
            Err(error) => return ending_of(error),
        }
    }
    None
}

fn ending_of(error: axum::Error) -> Ending {
    use tungstenite::Error;
    use tungstenite::error::ProtocolError;
    match error.into_inner().downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => Some((close_code::SIZE, "message above 16 KiB")),
        Some(Error::Utf8(_)) => Some((close_code::INVALID, "text that is not UTF-8")),
        // Gone without a word, as a client that crashed.
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => None,
        Some(Error::Protocol(_)) => Some((close_code::PROTOCOL, "not the WebSocket protocol")),
        // The connection is gone: there is nobody to tell.
        Some(_) | None => None,
    }
}

/// Sends what waits in the outbox until the connection ends.
async fn write(sink: &mut SplitSink<WebSocket, Message>, mut waiting: mpsc::Receiver<Outgoing>) -> Ending {
    while let Some(outgoing) = waiting.recv().await {
        let frame = match outgoing {
            Outgoing::Message(bytes) => Message::Binary(bytes.into()),
            Outgoing::Line(line) => Message::Text(line.as_ref().into()),
        };
        match timeout(WRITE_STALL_MAX, sink.send(frame)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return None,
            Err(_) => return Some((close_code::POLICY, "the client does not read")),
        }
    }
    // The ATOM itself closed it, by losing power or its address: no word of goodbye, as from the robot.
    None
}
