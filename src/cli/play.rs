//! `atom-sim play` and `atom-sim signal`: a plan or a test signal on any ATOM, with its recording.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use firmware_core::control::SETTLE_US;
use firmware_core::joints::{ARM_JOINTS, TABLE};
use firmware_core::motion::signal::{Params, Signal};
use firmware_core::protocol::build;
use firmware_core::protocol::reply::Done;
use firmware_core::shared::{PLAY_RATES_HZ, PlayParams};
use firmware_core::units::DEG_PER_STEP;

use super::exit::CommandError;
use super::files::refuse;
use super::new_file::{NewFile, refuse as refuse_file};
use super::output::note;
use super::robot::{Numbers, RobotArgs, bar, fail, parse_joints, report, stop_on_ctrl_c};
use super::values::whole;
use crate::client::{Plan, Robot, compensate, plan_csv};
use crate::recording::Collector;
use crate::recording::run_files::write_recording;
use crate::servo_model;

/// Parameters of PLAY and PLAY_SIGNAL.
#[derive(Debug, Args)]
struct PlayOptions {
    /// Control rate (Hz), 50 to 800.
    #[arg(long, value_name = "HZ", default_value_t = 500, value_parser = whole::<u16>(play_rates_hz()), allow_negative_numbers = true)]
    rate: u16,
    /// Speed cap of the servos (steps/s).
    #[arg(long, value_name = "STEPS/S", default_value_t = 2000, value_parser = whole::<u16>(0..=65_535), allow_negative_numbers = true)]
    speed_cap: u16,
    /// Stop when a joint is further than this from its wanted position (°).
    #[arg(long, value_name = "DEG", default_value_t = 20.0, value_parser = parse_tolerance, allow_negative_numbers = true)]
    max_error: f64,
    /// Start only when every joint is this near to the start (°).
    #[arg(long, value_name = "DEG", default_value_t = 3.0, value_parser = parse_tolerance, allow_negative_numbers = true)]
    start_tolerance: f64,
    /// Write the telemetry as a recording.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

fn play_rates_hz() -> RangeInclusive<u64> {
    u64::from(*PLAY_RATES_HZ.start())..=u64::from(*PLAY_RATES_HZ.end())
}

/// A turn is more than any joint can be off.
fn parse_tolerance(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|deg| (0.0..=360.0).contains(deg))
        .ok_or_else(|| format!("expected 0 to 360 degrees, found `{text}`"))
}

impl PlayOptions {
    fn params(&self) -> PlayParams {
        let steps = |deg: f64| (deg / f64::from(DEG_PER_STEP)).round() as u16;
        PlayParams {
            rate_hz: self.rate,
            speed_cap_sps: self.speed_cap,
            max_error_steps: steps(self.max_error),
            start_tolerance_steps: steps(self.start_tolerance),
        }
    }

    /// Makes the file of the recording: what cannot be kept is refused before anything moves.
    fn record(&self) -> Result<Option<Record>, CommandError> {
        let make = |path: &PathBuf| {
            NewFile::create("--record", path).map(|(made, file)| Record { made, file, path: path.clone() })
        };
        self.record.as_ref().map(make).transpose()
    }
}

/// Plays what moves for `motion_s`, and settles.
fn play(
    robot: &mut Robot,
    message: &[u8],
    motion_s: f64,
    stopped: fn() -> bool,
    record: Option<Record>,
) -> Result<(), CommandError> {
    let bar = bar((motion_s * 1000.0) as u64 + SETTLE_US / 1000, "playing");
    let mut collector = Collector::default();
    let progress = |t_s: f64| bar.set_position((t_s * 1000.0) as u64);
    let outcome = robot.run(message, &mut collector, stopped, progress);
    bar.finish_and_clear();
    // What came is kept, however the run ended.
    let kept = record.map_or(Ok(()), |record| record.write(&collector, outcome.as_ref().ok()));
    let ended = outcome.map_err(|error| fail(&error)).and_then(|done| report(&done));
    match (ended, kept) {
        (Err(ended), Err(kept)) => {
            note(kept);
            Err(ended)
        }
        (ended, kept) => ended.and(kept),
    }
}

/// The recording of a run.
struct Record {
    made: NewFile,
    file: File,
    path: PathBuf,
}

impl Record {
    fn write(self, collector: &Collector, done: Option<&Done>) -> Result<(), CommandError> {
        if collector.is_empty() {
            note(format_args!("no telemetry came, {} is not written", self.path.display()));
            return Ok(());
        }
        write_recording(self.file, collector).map_err(|error| refuse_file("--record", &self.path, &error))?;
        self.made.finish();
        let gaps = match done.map(|done| collector.missing(done)) {
            Some(0) => "all that the ATOM sent".to_owned(),
            Some(missing) => format!("{missing} lost on the way"),
            None => "up to where the run was lost".to_owned(),
        };
        note(format_args!("{}: {} samples, {gaps}", self.path.display(), collector.len()));
        Ok(())
    }
}

/// How goals make up for the servos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compensation {
    /// The file's `q_cmd`, or its `q_plan`.
    None,
    /// Each joint led by its measured lag.
    Lag,
    /// A second-order model of each joint, fed forward.
    Model,
}

/// Options of `atom-sim play`.
#[derive(Debug, Args)]
pub(super) struct PlayArgs {
    /// A plan, or a recording: CSV with `t`, `q_plan_1`…6 or …7, and `q_cmd_1`… if goals differ.
    plan: PathBuf,
    /// How goals make up for what the servos do to them.
    #[arg(long, value_enum, default_value_t = Compensation::None)]
    compensate: Compensation,
    /// Lags of J1 to J6 (s) for --compensate lag, instead of the measured ones.
    #[arg(long, value_name = "S", value_parser = parse_lags, allow_hyphen_values = true)]
    lags: Option<Numbers>,
    /// Curves rather than lines between samples.
    #[arg(long)]
    cubic: bool,
    #[command(flatten)]
    options: PlayOptions,
    #[command(flatten)]
    robot: RobotArgs,
}

/// Reads a plan or recording.
///
/// # Errors
/// 2: it is no plan. 3: it cannot be read.
pub(super) fn read_plan(path: &Path) -> Result<Plan, CommandError> {
    plan_csv::read(path).map_err(|error| refuse(&error))
}

/// Angles as `atom-sim move` takes them.
fn list(angles_deg: &[f64]) -> String {
    let angles = angles_deg.iter().map(|deg| ((deg * 10.0).round() / 10.0 + 0.0).to_string());
    angles.collect::<Vec<_>>().join(",")
}

/// Plays a plan.
pub(super) fn run_play(args: &PlayArgs) -> Result<(), CommandError> {
    let mut plan = read_plan(&args.plan)?;
    plan.cubic = args.cubic;
    compensate_plan(&mut plan, args)?;
    let fastest_dps = plan.top_speeds_dps().into_iter().fold(0.0, f64::max);
    let start = plan.samples.first().map_or(&[][..], |sample| &sample.reference_deg[..plan.joints]);
    let what = format!(
        "plays {} samples, {:.1} s, up to {fastest_dps:.0} °/s, from {}° (atom-sim move goes there)",
        plan.samples.len(),
        plan.duration_s(),
        list(start)
    );
    let stopped = stop_on_ctrl_c();
    let record = args.options.record()?;
    let mut robot = args.robot.connect_to_move(&what)?;
    let uploading = bar(1, "uploading");
    robot
        .upload(&plan, stopped, |done, all| {
            uploading.set_length(all as u64);
            uploading.set_position(done as u64);
        })
        .map_err(|error| fail(&error))?;
    uploading.finish_and_clear();
    let message = build::play(args.options.params());
    play(&mut robot, &message, plan.duration_s(), stopped, record)
}

fn parse_base(text: &str) -> Result<Numbers, String> {
    parse_joints(text)
        .ok()
        .filter(|base| base.0.len() == ARM_JOINTS)
        .ok_or_else(|| "expected 6 angles (J1 to J6), separated by commas, such as 0,0,-90,0,0,0".to_owned())
}

fn parse_lags(text: &str) -> Result<Numbers, String> {
    parse_joints(text).ok().filter(|lags| lags.0.len() == servo_model::LAGS_S.len()).ok_or_else(|| {
        "expected 6 lags in seconds, separated by commas, such as 0.12,0.12,0.12,0.1,0.1,0.1".to_owned()
    })
}

fn compensate_plan(plan: &mut Plan, args: &PlayArgs) -> Result<(), CommandError> {
    if args.lags.is_some() && args.compensate != Compensation::Lag {
        return Err(CommandError::bad_input("--lags: expected --compensate lag with it, which uses them"));
    }
    match args.compensate {
        Compensation::None => return Ok(()),
        Compensation::Lag => {
            let mut lags_s = servo_model::LAGS_S;
            for (lag_s, given_s) in lags_s.iter_mut().zip(args.lags.iter().flat_map(|lags| &lags.0)) {
                if !(0.0..=1.0).contains(given_s) {
                    return Err(CommandError::bad_input(format!(
                        "--lags: expected 0 to 1 s, found {given_s}"
                    )));
                }
                *lag_s = *given_s;
            }
            compensate::lead(plan, &lags_s);
        }
        Compensation::Model => compensate::feed_forward(plan, &servo_model::MEASURED),
    }
    let ahead_deg = compensate::distances_deg(plan).map(|(_, largest)| largest);
    note(format_args!(
        "goals lead the wanted positions by up to {:.1?}° per joint",
        &ahead_deg[..plan.joints]
    ));
    Ok(())
}

/// A test signal's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A sine whose frequency grows.
    Chirp,
    /// Eight holds.
    Steps,
}

/// Options of `atom-sim signal`.
#[derive(Debug, Args)]
pub(super) struct SignalArgs {
    /// Its form.
    #[arg(value_enum)]
    kind: Kind,
    /// Joint, 1 to 6.
    #[arg(long, value_parser = whole::<u8>(1..=6), allow_negative_numbers = true)]
    joint: u8,
    /// Amplitude (°).
    #[arg(long, value_name = "DEG", default_value_t = 10.0, allow_negative_numbers = true)]
    amp: f32,
    /// First frequency of a chirp (Hz).
    #[arg(long, value_name = "HZ", default_value_t = 0.2, allow_negative_numbers = true)]
    f0: f32,
    /// Last frequency of a chirp (Hz).
    #[arg(long, value_name = "HZ", default_value_t = 2.0, allow_negative_numbers = true)]
    f1: f32,
    /// Duration (s), 4 to 120.
    #[arg(long, value_name = "S", default_value_t = 20.0, allow_negative_numbers = true)]
    duration: f32,
    /// Top speed (°/s).
    #[arg(long, value_name = "DEG/S", default_value_t = 60.0, allow_negative_numbers = true)]
    vmax: f32,
    /// Top acceleration (°/s²).
    #[arg(long, value_name = "DEG/S2", default_value_t = 300.0, allow_negative_numbers = true)]
    amax: f32,
    /// Base pose: J1,…,J6 (°).
    #[arg(long, value_name = "POSE", value_parser = parse_base, allow_hyphen_values = true, default_value = "0,0,0,0,0,0")]
    base: Numbers,
    #[command(flatten)]
    options: PlayOptions,
    #[command(flatten)]
    robot: RobotArgs,
}

/// Plays a test signal.
pub(super) fn run_signal(args: &SignalArgs) -> Result<(), CommandError> {
    let signal = Params {
        joint: args.joint,
        kind: match args.kind {
            Kind::Chirp => 1,
            Kind::Steps => 2,
        },
        amp_deg: args.amp,
        f0_hz: args.f0,
        f1_hz: args.f1,
        duration_s: args.duration,
        vmax_dps: args.vmax,
        amax_dps2: args.amax,
        base_cdeg: core::array::from_fn(|joint| {
            (args.base.0.get(joint).copied().unwrap_or_default() * 100.0).round() as i16
        }),
    };
    signal.validate(&TABLE).map_err(|refusal| CommandError::bad_input(format!("signal: {refusal}")))?;
    let Ok(bytes) = signal.to_bytes().into_array() else {
        return Err(CommandError::failed("signal: its bytes have the wrong length"));
    };
    let what = format!(
        "moves all joints to the base pose ({}°), then J{} by ±{}° for {} s, and back",
        list(&args.base.0),
        args.joint,
        args.amp,
        args.duration
    );
    let base_deg = core::array::from_fn(|joint| f32::from(signal.base_cdeg[joint]) / 100.0);
    let duration_s = f64::from(Signal::new(&signal, &base_deg).duration_s());
    let stopped = stop_on_ctrl_c();
    let record = args.options.record()?;
    let mut robot = args.robot.connect_to_move(&what)?;
    let message = build::play_signal(args.options.params(), &bytes);
    play(&mut robot, &message, duration_s, stopped, record)
}
