//! Serves one `Atom` over real sockets, in real time or any other.
//!
//! Two threads. The *simulation thread* owns the `Atom` and the pacer: it sleeps until the next thing is due
//! or a client's message comes, so that timers are as exact as the host's and an idle simulator costs next to
//! nothing. The *socket thread* runs everything asynchronous: HTTP, WebSockets, the UDP reader. Inputs go one
//! way through one queue, stamped with their time of arrival, bounded for each WebSocket and for all UDP sources
//! together; messages go back through a bounded queue per WebSocket, and straight to the UDP socket.
//!
//! | File | Is |
//! | --- | --- |
//! | [`api`] | the command API under `/api` |
//! | `options` | what a server is asked to do, and where it listens |
//! | `listen` | opens the sockets, the whole server's life |
//! | `pacer` | wall time to virtual time and back, lag: the one place with a clock |
//! | `simulation` | the simulation thread |
//! | `live` | a scenario on the ATOM that is served |
//! | `inputs` | the queue to it |
//! | `clients` | who is connected, and the way to each |
//! | `http` | the paths: `/ws`, and the command API beside it |
//! | `websocket` | one WebSocket connection |
//! | `udp` | the UDP reader |
//! | [`mdns`] | its name on the local network |

pub mod api;
mod clients;
mod http;
mod inputs;
mod listen;
mod live;
pub mod mdns;
mod options;
mod pacer;
mod simulation;
mod udp;
mod websocket;

pub use clients::{OUTBOX_MESSAGES, UDP_SILENCE_MIN, UDP_SOURCES_MAX};
pub use inputs::MESSAGES_PER_TICK;
pub use listen::{Server, ServerError};
pub use options::{CONNECTIONS_DEFAULT, Endpoints, ServerOptions};
pub use pacer::{CATCH_UP_MAX, LagFigures, Speed};
pub use udp::DATAGRAM_BYTES_MAX;
pub use websocket::{MESSAGE_BYTES_MAX, WRITE_STALL_MAX};
