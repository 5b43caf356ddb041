//! A server's life: opens the sockets, starts the threads, stops in order.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{oneshot, watch};

use super::api::{self, Access, Desk, Sessions};
use super::clients::Clients;
use super::http;
use super::inputs::{self, Arrival, Input, Inputs};
use super::options::{Endpoints, ServerOptions};
use super::pacer::{LagFigures, Pacer, wall_now};
use super::simulation::{Simulation, StatusLog};
use super::udp;
use super::websocket::{Presence, WebSockets};
use crate::atom::Atom;
use crate::recording::Keepers;

/// TCP connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Kernel send buffer of a WebSocket (bytes). Small, as the robot's: a client that stalls finds what is new,
/// not minutes of what is old.
const SEND_BUFFER_BYTES: u32 = 32 * 1024;
/// Kernel receive buffer of the UDP socket (bytes).
const RECEIVE_BUFFER_BYTES: usize = 1 << 20;
/// How long connections get to close when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a server cannot start or go on. The message says what failed, why and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A port cannot be opened.
    #[error("cannot listen on {what} {address}: {}", advice(.error, .option))]
    Listen {
        /// `TCP` or `UDP`.
        what: &'static str,
        /// Where.
        address: SocketAddr,
        /// The option that names the port.
        option: &'static str,
        /// The system's answer.
        error: io::Error,
    },
    /// The socket of the status log cannot be opened.
    #[error("cannot send the status log to {to}: {error}; check --status-log or leave it out")]
    StatusLog {
        /// Where it should go.
        to: SocketAddr,
        /// The system's answer.
        error: io::Error,
    },
    /// A thread or a socket cannot be made.
    #[error("cannot start serving: {0}; the system is short of threads or file descriptors")]
    Start(io::Error),
    /// The simulation thread ended by itself.
    #[error("the simulation failed; the log above says where: please report it")]
    Simulation,
    /// The server ran to its end, but a file could not be kept to its end.
    #[error("a file was not kept to the end: {0}; make room for it and begin again")]
    Keep(io::Error),
}

fn advice(error: &io::Error, option: &str) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "the port is in use; stop the other program, move all ports with --instance 1, or take a free one with \
             {option} 0"
        ),
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have the address; give --host one of its own, or 0.0.0.0 for all"
                .to_owned()
        }
        io::ErrorKind::PermissionDenied => format!("not permitted; choose a port above 1023 with {option}"),
        _ => error.to_string(),
    }
}

/// One ATOM with its sockets open. Clients can connect from now on; [`Server::run`] serves them.
#[derive(Debug)]
pub struct Server {
    endpoints: Endpoints,
    connections_max: usize,
    access: Access,
    sessions: Sessions,
    presence: Presence,
    listener: TcpListener,
    udp: tokio::net::UdpSocket,
    inputs: Inputs,
    /// Boxed: an ATOM is more than 100 KB, too much to move about.
    simulation: Box<Simulation>,
    lag: Arc<LagFigures>,
}

impl Server {
    /// Opens the sockets; `keepers` keep files of what the ATOM does. Call it inside a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// A port or address that cannot be had.
    pub fn bind(options: &ServerOptions, atom: Atom, keepers: Keepers) -> Result<Self, ServerError> {
        let listener = listen_tcp(options.http)?;
        let (udp, replies) = listen_udp(options.udp)?;
        let status_log = options.status_log.map(open_status_log).transpose()?;
        let endpoints = Endpoints {
            http: listener.local_addr().map_err(ServerError::Start)?,
            websocket: options.websocket,
            udp: udp.local_addr().map_err(ServerError::Start)?,
        };
        let (inputs, arrivals): (Inputs, Receiver<Arrival>) = inputs::queue();
        let pacer = Pacer::new(options.speed, atom.now_us(), wall_now());
        let lag = pacer.figures();
        let sessions = Sessions::new(inputs.clone());
        let presence = Presence::new(options.websocket);
        let desk =
            Desk::new(options.speed, sessions.clone(), options.commands_folder.clone(), presence.clone());
        let clients = Clients::new(replies);
        let mut simulation = Box::new(Simulation::new(atom, pacer, clients, desk, arrivals, status_log));
        simulation.keep(keepers);
        Ok(Self {
            endpoints,
            connections_max: options.connections_max,
            access: options.access,
            sessions,
            presence,
            listener,
            udp,
            inputs,
            simulation,
            lag,
        })
    }

    /// Where it listens, with the real ports.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// How far the host fell behind real time.
    pub fn lag(&self) -> Arc<LagFigures> {
        Arc::clone(&self.lag)
    }

    /// Serves until `stop` resolves; then closes every WebSocket with 1001 and ends.
    ///
    /// # Errors
    /// A thread that cannot be started, or a simulation that failed.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let events = self.simulation.events();
        let (simulation, ended) = start_simulation(self.simulation)?;
        let (stop_sender, stop_receiver) = watch::channel(false);
        let websockets =
            WebSockets::new(self.inputs.clone(), self.connections_max, stop_receiver, self.presence);
        let places = websockets.places();
        let api = api::router(self.access, self.inputs.clone(), self.sessions, events);
        let paths = http::router(websockets, api);
        let accepting = tokio::spawn(http::accept(self.listener, paths));
        let reading = tokio::spawn(udp::read(self.udp, self.inputs.clone()));
        let url = self.endpoints.websocket_url();
        if let Some(url) = &url {
            tracing::info!("serving {url} and UDP {}", self.endpoints.udp);
        } else {
            tracing::info!("serving UDP {}; this firmware has no WebSocket", self.endpoints.udp);
        }

        let stopped = tokio::select! {
            () = stop => true,
            _ = ended => false,
        };
        accepting.abort();
        reading.abort();
        stop_sender.send_replace(true);
        let everyone = u32::try_from(self.connections_max).unwrap_or(u32::MAX);
        if tokio::time::timeout(STOP_TIMEOUT, places.acquire_many(everyone)).await.is_err() {
            tracing::debug!("some connections did not close in time");
        }
        // An ended simulation takes no stop; joining it tells how it ended.
        let _ = self.inputs.post(Input::Stop);
        let joined = simulation.join();
        report_lag(&self.lag);
        match joined {
            Ok(kept) if stopped => kept.map_err(ServerError::Keep),
            Ok(_) | Err(_) => Err(ServerError::Simulation),
        }
    }
}

type SimulationThread = thread::JoinHandle<io::Result<()>>;

/// Starts the simulation thread, with a receiver that resolves when it has ended, in whatever way.
fn start_simulation(
    simulation: Box<Simulation>,
) -> Result<(SimulationThread, oneshot::Receiver<()>), ServerError> {
    let (alive, ended) = oneshot::channel::<()>();
    let thread = thread::Builder::new()
        .name("simulation".to_owned())
        .spawn(move || {
            // Dropped at the end of the thread, even by a panic.
            let _alive = alive;
            simulation.run()
        })
        .map_err(ServerError::Start)?;
    Ok((thread, ended))
}

fn report_lag(lag: &LagFigures) {
    tracing::info!(
        "stopped; the host was at most {:.1} ms late, {:.0} ms left out",
        lag.max_us() as f64 / 1e3,
        lag.slipped_us() as f64 / 1e3
    );
}

fn listen_tcp(address: SocketAddr) -> Result<TcpListener, ServerError> {
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Restarting at once must work. On Windows the option would allow two servers on one port.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| ServerError::Listen { what: "TCP", address, option: "--port", error })
}

/// Opens the UDP port: one end to read, one to send replies from any thread.
fn listen_udp(address: SocketAddr) -> Result<(tokio::net::UdpSocket, UdpSocket), ServerError> {
    let listen = || {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // More than the system allows is as much as it allows: bursts of some clients must not cost others theirs.
        if let Err(error) = SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER_BYTES) {
            tracing::debug!("receive buffer of UDP: {error}");
        }
        let replies = socket.try_clone()?;
        Ok((tokio::net::UdpSocket::from_std(socket)?, replies))
    };
    listen().map_err(|error| ServerError::Listen { what: "UDP", address, option: "--udp-port", error })
}

fn open_status_log(to: SocketAddr) -> Result<StatusLog, ServerError> {
    let open = || {
        let from: SocketAddr =
            if to.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
        let socket = UdpSocket::bind(from)?;
        socket.set_nonblocking(true)?;
        socket.set_broadcast(true)?;
        Ok(StatusLog { socket, to })
    };
    open().map_err(|error| ServerError::StatusLog { to, error })
}
