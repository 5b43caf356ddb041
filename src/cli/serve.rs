//! `atom-sim serve`: serves one simulated ATOM until it is told to stop.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::CommandError;
use super::files::refuse;
use super::keep::KeepArgs;
use super::logging::{self, LogLevel};
use super::new_file::NewFile;
use super::opening::Opening;
use super::ready::{self, ReadyFile};
use super::values::{
    Pose, parse_angle, parse_level, parse_plant, parse_pose, parse_speed, parse_target, whole,
};
use crate::atom::{ApiLevel, Atom, Options, Recording, SUBSCRIBERS_MAX};
use crate::hardware::{HardwareError, HardwareOptions, Object, ObjectSize, PlantKind};
use crate::recording::csv_file;
use crate::server::api::Access;
use crate::server::mdns::{Announcement, MdnsError};
use crate::server::{self, Server, ServerError, ServerOptions, Speed};

/// Ports between one instance and the next.
const INSTANCE_PORT_STEP: u32 = 10;

/// Options of `atom-sim serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to serve on; 0.0.0.0 serves the whole network.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// TCP port of the WebSocket (path /ws); 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8281, value_parser = whole::<u16>(0..=65_535), allow_negative_numbers = true)]
    port: u16,
    /// UDP port of the commands; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 5006, value_parser = whole::<u16>(0..=65_535), allow_negative_numbers = true)]
    udp_port: u16,
    /// Moves all ports this ATOM listens on by 10·N, so that several run side by side.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u16>(0..=65_535), allow_negative_numbers = true)]
    instance: u16,
    /// The arm without the gripper: 6 joints.
    #[arg(long)]
    no_gripper: bool,
    /// An object between the fingers stops J7 at this angle when it closes (−51.5…0).
    #[arg(long, value_name = "DEG", value_parser = parse_angle, allow_negative_numbers = true, conflicts_with = "no_gripper")]
    object: Option<f64>,
    /// What moves the joints: `lag` (each follows its goal 0.12 s later) or `measured` (as the lab measured its arm:
    /// sag, friction, play, vibration).
    #[arg(long, value_name = "PLANT", value_parser = parse_plant, default_value = "lag")]
    plant: PlantKind,
    /// Joint angles at power-up: `zero` (singular: no end-effector JOG from it), `ready` (0,0,-90,0,0,0), or
    /// J1,…,J6[,J7] in degrees.
    #[arg(long, value_name = "POSE", value_parser = parse_pose, default_value = "zero", allow_hyphen_values = true)]
    pose: Pose,
    /// Serve from power-up on and show booting, rather than once power-up is done.
    #[arg(long)]
    boot: bool,
    /// Firmware generation to be: 4.1, 4.2, 4.4, 4.6, 5.0 or 5.1. 4.1 has no WebSocket.
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, default_value = "5.1")]
    api: ApiLevel,
    /// Clients that can be subscribed to the state stream at once (4 on the robot).
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u16>(1..=SUBSCRIBERS_MAX as u64), allow_negative_numbers = true)]
    max_subscribers: u16,
    /// WebSocket connections served at once; one more is answered 503.
    #[arg(long, value_name = "N", default_value_t = server::CONNECTIONS_DEFAULT, value_parser = whole::<u16>(1..=4096), allow_negative_numbers = true)]
    max_connections: u16,
    /// Virtual time: a factor of real time, `max` (as fast as it goes) or `paused`.
    #[arg(long, value_name = "SPEED", value_parser = parse_speed, default_value = "1", allow_negative_numbers = true)]
    speed: Speed,
    /// Seed of everything random: the same seed and inputs give the same outputs.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    /// Who may use the command API under /api: `off`, `local` (this machine) or `anyone`.
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Access::Local, hide_possible_values = true)]
    commands: Access,
    /// Clients of the command API may keep traces and recordings in this folder, by name; without it they may not.
    #[arg(long, value_name = "FOLDER")]
    commands_folder: Option<PathBuf>,
    /// Send the status log as UDP datagrams to this address too (the robot broadcasts on port 5005).
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_target)]
    status_log: Option<SocketAddr>,
    /// Answer for NAME.local on the local network (mDNS); `mycobot` when NAME is left out.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "mycobot")]
    mdns: Option<String>,
    /// Write the ready line to this file once clients can connect; the file is removed at the end.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    #[command(flatten)]
    keep: KeepArgs,
    /// How much to log on standard error: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Info, hide_possible_values = true)]
    log: LogLevel,
    /// Play this recording's telemetry for PLAY and PLAY_SIGNAL, whatever plan or signal they ask for. A trace would
    /// not keep it.
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    recording: Option<PathBuf>,
    /// Move the arm at the start as the goals of this plan or recording say, open loop: it stands in the first of
    /// them, and nothing stops it for its error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pose", "boot", "recording"])]
    play: Option<PathBuf>,
}

/// Serves until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// An option out of its range, a port in use, a ready file that cannot be written, or a simulation that failed.
pub(crate) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let recording = recording(args)?;
    let host = resolve_host(&args.host)?;
    let options = ServerOptions {
        http: SocketAddr::new(host, instance_port("--port", args.port, args.instance)?),
        udp: SocketAddr::new(host, instance_port("--udp-port", args.udp_port, args.instance)?),
        status_log: args.status_log,
        websocket: args.api.has_web_socket_and_control(),
        speed: args.speed,
        access: args.commands,
        commands_folder: args.commands_folder.as_deref().map(make_folder).transpose()?,
        connections_max: usize::from(args.max_connections),
    };
    let mut atom_options = Options { recording, ..atom_options(args) };
    let read = |path: &PathBuf| Opening::read(path, atom_options.plan_bytes_max);
    let opening = args.play.as_ref().map(read).transpose()?;
    if let Some(opening) = &opening {
        atom_options.hardware.pose_deg = opening.start_deg(atom_options.hardware.pose_deg);
    }
    let mut atom = Atom::new(&atom_options).map_err(|error| refuse_arm(&error))?;
    logging::start(args.log);
    let ready_file = args.ready_file.as_deref().map(ReadyFile::prepare).transpose()?;
    let (mut keepers, made) = args.keep.open(&mut atom)?;
    if let Some(opening) = &opening {
        opening.begin(&mut atom, &mut keepers)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::machine(format!("cannot start serving: {error}")))?;
    let mdns = args.mdns.as_deref();
    runtime.block_on(async {
        // Signals first: from the ready line on, they stop the server in order.
        let stop = stop_signal()?;
        let server = Server::bind(&options, atom, keepers).map_err(CommandError::machine)?;
        let address = server.endpoints().http;
        // Its name is answered for as long as it serves.
        let _announcement =
            mdns.map(|name| Announcement::start(name, address)).transpose().map_err(refuse_name)?;
        ready::announce(server.endpoints(), ready_file.as_ref())?;
        // From here on files are worth keeping, whatever happens.
        made.into_iter().for_each(NewFile::finish);
        server.run(stop).await.map_err(refuse_run)
    })
}

fn refuse_run(error: ServerError) -> CommandError {
    match error {
        ServerError::Listen { .. }
        | ServerError::StatusLog { .. }
        | ServerError::Start(_)
        | ServerError::Keep(_) => CommandError::machine(error),
        ServerError::Simulation => CommandError::failed(error),
    }
}

fn refuse_name(error: MdnsError) -> CommandError {
    match error {
        MdnsError::Name { .. } | MdnsError::Loopback { .. } => {
            CommandError::bad_input(format!("--mdns: {error}"))
        }
        MdnsError::Network { .. } => CommandError::machine(error),
    }
}

/// The folder for files of API clients, made if it is not there.
fn make_folder(folder: &Path) -> Result<PathBuf, CommandError> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| {
        CommandError::machine(format!(
            "--commands-folder {}: {error}; give it a place where a folder can be made and written",
            folder.display()
        ))
    })
}

/// The telemetry that PLAY and PLAY_SIGNAL play, if a recording is given: what fits into messages, of the joints that
/// the API knows.
fn recording(args: &ServeArgs) -> Result<Option<Recording>, CommandError> {
    let Some(path) = &args.recording else { return Ok(None) };
    let (n, samples) = csv_file::read_samples(path).map_err(|error| refuse(&error))?;
    if n > args.api.joints(n) {
        return Err(CommandError::bad_input(format!(
            "{}: a recording of {n} joints, which firmware {} does not report; give it one of 6 joints, or a newer --api",
            path.display(),
            args.api.name()
        )));
    }
    Ok(Some(samples.into()))
}

fn atom_options(args: &ServeArgs) -> Options {
    Options {
        hardware: HardwareOptions {
            seed: args.seed,
            gripper: !args.no_gripper,
            object: args.object.map(|deg| Object::of(ObjectSize::AngleDeg(deg))),
            pose_deg: args.pose.0,
            plant: args.plant,
            ..HardwareOptions::default()
        },
        level: args.api,
        max_subscribers: usize::from(args.max_subscribers),
        boot: args.boot,
        ..Options::default()
    }
}

/// Says which option asks for an arm that cannot be.
fn refuse_arm(error: &HardwareError) -> CommandError {
    let option = match error {
        HardwareError::OutsideEndStops { .. } => "--pose: ",
        HardwareError::ObjectOutOfReach { .. } => "--object: ",
        // No option sets one of the other values.
        HardwareError::OutOfRange { .. } => "",
    };
    CommandError::bad_input(format!("{option}{error}; choose an angle in this range"))
}

/// The address behind `--host`: itself, or the first one of a name, IPv4 before IPv6.
fn resolve_host(host: &str) -> Result<IpAddr, CommandError> {
    if let Ok(address) = host.parse() {
        return Ok(address);
    }
    let found: Vec<IpAddr> = (host, 0)
        .to_socket_addrs()
        .map_err(|error| {
            CommandError::bad_input(format!(
                "--host {host}: no address of this machine ({error}); give an IP address such as 127.0.0.1 or 0.0.0.0"
            ))
        })?
        .map(|address| address.ip())
        .collect();
    found.iter().find(|address| address.is_ipv4()).or_else(|| found.first()).copied().ok_or_else(|| {
        CommandError::bad_input(format!(
            "--host {host}: the name has no address; give an IP address such as 127.0.0.1"
        ))
    })
}

/// The port of one instance. Port 0 stays 0: any free port.
fn instance_port(option: &str, port: u16, instance: u16) -> Result<u16, CommandError> {
    if port == 0 {
        return Ok(0);
    }
    let moved = u32::from(port) + INSTANCE_PORT_STEP * u32::from(instance);
    u16::try_from(moved).map_err(|_| {
        CommandError::bad_input(format!(
            "--instance {instance} moves {option} {port} to {moved}, past the last port 65535; choose a smaller \
             instance or port"
        ))
    })
}

/// Resolves when the process is asked to stop: SIGINT (Ctrl-C) or SIGTERM.
fn stop_signal() -> Result<impl Future<Output = ()>, CommandError> {
    #[cfg(unix)]
    let terminate = {
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| {
            signal(kind).map_err(|error| CommandError::machine(format!("cannot watch for signals: {error}")))
        };
        let (mut interrupt, mut terminate, mut hang_up) =
            (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?, watch(SignalKind::hangup())?);
        async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                // The terminal or the SSH session is gone.
                _ = hang_up.recv() => {}
            }
        }
    };
    #[cfg(not(unix))]
    let terminate = async {
        // Without signals the server runs until its process is ended.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    Ok(terminate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_moves_a_port_by_ten_and_leaves_port_0_free() {
        assert_eq!(instance_port("--port", 8281, 2), Ok(8301));
        assert_eq!(instance_port("--port", 0, 2), Ok(0));
    }

    #[test]
    fn an_instance_past_the_last_port_is_refused() {
        let error = instance_port("--port", 65_530, 1).expect_err("past the last port");
        assert!(error.message.contains("65540"), "{error}");
    }

    #[test]
    fn a_host_name_resolves_to_ipv4_first() {
        assert_eq!(resolve_host("localhost").map(|address| address.is_loopback()), Ok(true));
        assert_eq!(resolve_host("::1"), Ok(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])));
        assert!(resolve_host("not a host").is_err());
    }
}
