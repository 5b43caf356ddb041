//! The stream of events. It is a session: when the connection ends, the session ends, and all it owns with it.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event as Frame, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::error::ApiError;
use super::handlers::Api;
use super::order::SessionNumber;
use super::replies::Event;
use super::sessions::Sessions;

/// Real time between two signs of life: a client that is gone is noticed when one cannot be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// Ends its session when the connection ends.
struct Ending {
    sessions: Sessions,
    session: SessionNumber,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.sessions.end(self.session);
    }
}

/// Opens a session that lives as long as this stream, and tells what happens
#[utoipa::path(get, path = "/api/events", tag = "sessions",
    responses((status = 200, description = "Server-sent events; the first names the session", content_type = "text/event-stream", body = Event)))]
pub(super) async fn events(
    State(api): State<Api>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, ApiError> {
    let heard = api.events.subscribe();
    let session = api.sessions.start()?;
    let ending = Ending { sessions: api.sessions, session };
    let first = Event::Session { session: session.to_string() };
    let stream = unfold((Some(first), heard, ending), |(first, mut heard, ending)| async move {
        let event = match first {
            Some(first) => first,
            None => next(&mut heard).await?,
        };
        let frame = Frame::default().event(event.name()).json_data(&event).unwrap_or_default();
        Some((Ok(frame), (None, heard, ending)))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

async fn next(heard: &mut Receiver<Event>) -> Option<Event> {
    match heard.recv().await {
        Ok(event) => Some(event),
        Err(RecvError::Lagged(count)) => Some(Event::Lost { count }),
        Err(RecvError::Closed) => None,
    }
}
