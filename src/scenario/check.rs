//! A parsed file → a scenario that can run, or everything that is wrong with it and where.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::action;
use super::check_condition;
use super::error::{FileError, Source};
use super::fault_entry::FaultEntry;
use super::format::{Arm, Client, Expect, File, Plant, Step, TransportName, WifiName};
use super::plan::{Begin, ClientPlan, ExpectPlan, Scenario, StepPlan, Window};
use crate::atom::fault::{self, Scope};
use crate::atom::{ClientId, CpuModel, Options, Transport};
use crate::hardware::{HardwareOptions, Object, ObjectSize, PlantKind, READY_DEG};
use crate::link::Profile;

/// Longest scenario (s, virtual).
const DURATION_S_MAX: f64 = 86_400.0;
/// Shortest period of a repetition (ms).
const EVERY_MS_MIN: f64 = 1.0;

/// What is checked against: the names a file defines.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// Clients.
    pub(super) clients: Vec<&'a str>,
    /// Labels of steps, with the step's index.
    pub(super) labels: BTreeMap<&'a str, usize>,
}

/// Collects what is wrong.
struct Findings<'a> {
    source: &'a Source<'a>,
    errors: Vec<FileError>,
}

impl Findings<'_> {
    fn add(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.errors.push(self.source.error(span, message));
    }
}

/// Seconds of the file → µs.
pub(super) fn us(seconds: f64) -> u64 {
    libm::round(seconds * 1e6) as u64
}

/// Checks a file.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn scenario(source: &Source<'_>, file: File) -> Result<Scenario, Vec<FileError>> {
    let mut findings = Findings { source, errors: Vec::new() };
    header(&file, &mut findings);
    let names = names(&file, &mut findings);
    let options = file.arm.as_ref().map_or_else(
        || arm_options(&Arm::default(), file.seed),
        |arm| {
            check_arm(arm, &mut findings);
            arm_options(arm.get_ref(), file.seed)
        },
    );
    if let Err(error) = options.check() {
        let at = file.arm.as_ref().map_or_else(|| file.name.span(), Spanned::span);
        findings.add(&at, format!("the arm cannot be: {error}"));
    }
    let steps = steps(&file, &names, &mut findings);
    for entry in &file.faults {
        check_fault(entry, *file.duration_s.get_ref(), &names, &mut findings);
    }
    let expects: Vec<ExpectPlan> =
        file.expects.iter().filter_map(|expect| check_expect(expect, &file, &names, &mut findings)).collect();
    let wifi = file.arm.as_ref().and_then(|arm| arm.get_ref().wifi);
    let clients = file.clients.iter().map(|client| client_plan(client.get_ref(), wifi)).collect();
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    Ok(Scenario {
        name: file.name.into_inner(),
        purpose: file.purpose,
        path: source.path.to_owned(),
        seed: file.seed,
        tags: file.tags,
        options,
        duration_us: us(*file.duration_s.get_ref()),
        recovery: file.recovery,
        clients,
        steps: steps.into(),
        faults: file.faults.into_iter().map(Spanned::into_inner).collect(),
        expects: expects.into(),
    })
}

fn header(file: &File, findings: &mut Findings<'_>) {
    let name = file.name.get_ref();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        findings
            .add(&file.name.span(), format!("expected small letters, digits and hyphens, found \"{name}\""));
    }
    let duration_s = *file.duration_s.get_ref();
    if !(duration_s > 0.0 && duration_s <= DURATION_S_MAX) {
        let message = format!("expected a duration above 0 and up to {DURATION_S_MAX} s, found {duration_s}");
        findings.add(&file.duration_s.span(), message);
    }
    if let Some(api) = &file.api
        && api.get_ref() != "5.1"
    {
        findings.add(&api.span(), format!("expected API level \"5.1\", found \"{}\"", api.get_ref()));
    }
    if file.expects.is_empty() && !file.recovery {
        let message = "expected at least one [[expect]], or recovery = true: this scenario could not fail";
        findings.add(&file.name.span(), message);
    }
}

fn names<'a>(file: &'a File, findings: &mut Findings<'_>) -> Names<'a> {
    let mut names = Names { clients: Vec::new(), labels: BTreeMap::new() };
    for client in &file.clients {
        let name = client.get_ref().name.as_str();
        if names.clients.contains(&name) || name == "nobody" || name.is_empty() {
            findings.add(&client.span(), format!("expected a client name of its own, found \"{name}\""));
        }
        names.clients.push(name);
    }
    for (i, step) in file.steps.iter().enumerate() {
        if let Some(label) = &step.get_ref().label
            && names.labels.insert(label, i).is_some()
        {
            findings.add(&step.span(), format!("the label \"{label}\" is already that of another step"));
        }
    }
    names
}

fn check_arm(arm: &Spanned<Arm>, findings: &mut Findings<'_>) {
    let Some(pose) = &arm.get_ref().pose_deg else { return };
    if !(6..=7).contains(&pose.len()) {
        findings.add(&arm.span(), format!("expected 6 or 7 angles in pose_deg, found {}", pose.len()));
    }
    if let Some(bad) = pose.iter().find(|angle| !(-240.0..=240.0).contains(*angle)) {
        findings.add(&arm.span(), format!("expected angles from -240 to 240° in pose_deg, found {bad}"));
    }
}

fn arm_options(arm: &Arm, seed: u64) -> Options {
    let default = Options::default();
    let mut pose_deg = READY_DEG;
    for (to, from) in pose_deg.iter_mut().zip(arm.pose_deg.iter().flatten()) {
        *to = *from;
    }
    Options {
        hardware: HardwareOptions {
            seed,
            pose_deg,
            gripper: arm.gripper.unwrap_or(true),
            object: arm.object_deg.map(|deg| Object::of(ObjectSize::AngleDeg(deg))),
            plant: match arm.plant {
                Some(Plant::Measured) => PlantKind::Measured,
                Some(Plant::Lag) | None => PlantKind::Lag,
            },
            ..HardwareOptions::default()
        },
        plan_bytes_max: arm.plan_bytes_max.unwrap_or(default.plan_bytes_max),
        max_subscribers: arm.max_subscribers.unwrap_or(default.max_subscribers),
        cpu: CpuModel { cycle_us: arm.cpu_cycle_us.unwrap_or(default.cpu.cycle_us), ..default.cpu },
        boot: arm.boot.unwrap_or(false),
        ..default
    }
}

fn client_plan(client: &Client, wifi: Option<WifiName>) -> ClientPlan {
    ClientPlan {
        name: client.name.clone(),
        transport: match client.transport {
            TransportName::Udp => Transport::Udp,
            TransportName::Websocket => Transport::WebSocket,
        },
        subscribe_hz: client.subscribe_hz,
        wifi: client.wifi.or(wifi).map(|name| match name {
            WifiName::Ideal => Profile::Ideal,
            WifiName::Lab => Profile::Lab,
            WifiName::Hotspot => Profile::Hotspot,
        }),
        connected: client.connected.unwrap_or(true),
    }
}

fn steps(file: &File, names: &Names<'_>, findings: &mut Findings<'_>) -> Vec<StepPlan> {
    let mut last_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut plans = Vec::new();
    for (i, spanned) in file.steps.iter().enumerate() {
        let (step, span) = (spanned.get_ref(), spanned.span());
        let Some(client) = names.clients.iter().position(|name| *name == step.client) else {
            findings.add(&span, unknown_client(&step.client, names));
            continue;
        };
        check_step_times(file, step, &span, findings);
        if let Some(when) = &step.when {
            check_condition::check(when.get_ref(), names).unwrap_or_else(|m| findings.add(&when.span(), m));
        }
        let deed = match action::deed(step.action.get_ref(), findings.source.folder) {
            Ok(deed) => deed,
            Err(message) => {
                findings.add(&step.action.span(), message);
                continue;
            }
        };
        let begin = match (step.at_s, last_of.insert(client, i)) {
            (Some(at_s), _) => Begin::At(us(at_s)),
            (None, Some(previous)) => Begin::AfterStep(previous, us(step.after_s.unwrap_or(0.0))),
            (None, None) => Begin::AfterStart(us(step.after_s.unwrap_or(0.0))),
        };
        plans.push(StepPlan {
            client,
            label: step.label.clone(),
            begin,
            when: step.when.as_ref().map(|when| when.get_ref().clone()),
            wait_us: us(step.wait_s.unwrap_or(*file.duration_s.get_ref())),
            deed,
            repeat_us: step.every_ms.map(|ms| (us(ms / 1_000.0), us(step.for_s.unwrap_or(0.0)))),
            words: action::words(step.action.get_ref()),
            line: findings.source.error(&span, "").line,
        });
    }
    plans
}

fn check_step_times(file: &File, step: &Step, span: &Range<usize>, findings: &mut Findings<'_>) {
    let duration_s = *file.duration_s.get_ref();
    if step.at_s.is_some() && step.after_s.is_some() {
        findings.add(span, "expected at_s or after_s, found both");
    }
    for (name, time) in
        [("at_s", step.at_s), ("after_s", step.after_s), ("wait_s", step.wait_s), ("for_s", step.for_s)]
    {
        if let Some(time_s) = time
            && !(0.0..=duration_s).contains(&time_s)
        {
            findings.add(
                span,
                format!("expected {name} from 0 to the duration of {duration_s} s, found {time_s}"),
            );
        }
    }
    match (step.every_ms, step.for_s) {
        (Some(every_ms), Some(_)) if every_ms < EVERY_MS_MIN || every_ms.is_nan() => {
            findings.add(span, format!("expected every_ms of at least {EVERY_MS_MIN}, found {every_ms}"));
        }
        (Some(_), None) | (None, Some(_)) => {
            findings
                .add(span, "expected every_ms and for_s together: a repetition has a period and a length");
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
}

pub(super) fn unknown_client(name: &str, names: &Names<'_>) -> String {
    format!("no client \"{name}\"; there is: {}", names.clients.join(", "))
}

fn check_fault(entry: &Spanned<FaultEntry>, duration_s: f64, names: &Names<'_>, findings: &mut Findings<'_>) {
    let (fault, span) = (entry.get_ref(), entry.span());
    // Which client a name means is known only when it connects: here any existing name will do.
    let any = ClientId { transport: Transport::Udp, number: 0 };
    let client = |name: &str| names.clients.contains(&name).then_some(any);
    if let Err(error) = to_fault(fault, &client) {
        let at = match (&error, error.parameter()) {
            (fault::FaultError::UnknownFault { .. }, _) => fault.name.1.clone(),
            (_, Some(parameter)) => {
                fault.parameters.get(parameter).map_or(span.clone(), |(_, at)| at.clone())
            }
            (_, None) => span.clone(),
        };
        findings.add(&at, error.to_string());
    }
    if !(0.0..duration_s).contains(&fault.at_s) {
        let message =
            format!("expected at_s from 0 to before the end at {duration_s} s, found {}", fault.at_s);
        findings.add(&span, message);
    }
    for (name, number) in [("for_s", fault.for_s), ("every_s", fault.every_s)] {
        if let Some(number) = number
            && !(0.0..=DURATION_S_MAX).contains(&number)
        {
            findings.add(&span, format!("expected {name} from 0 to {DURATION_S_MAX} s, found {number}"));
        }
    }
    if fault.every_s.is_some_and(|every_s| us(every_s) == 0) {
        findings.add(&span, "expected every_s above 0");
    }
    if let Some(p) = fault.probability.filter(|p| !(0.0..=1.0).contains(p)) {
        findings.add(&span, format!("expected a probability from 0 to 1, found {p}"));
    }
}

/// The fault of an entry, starting as it says.
pub(super) fn to_fault(
    entry: &FaultEntry,
    client: &dyn Fn(&str) -> Option<ClientId>,
) -> Result<fault::Fault, fault::FaultError> {
    let values = entry.parameters.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect();
    let scope = Scope {
        after_us: 0,
        for_us: entry.for_s.map(us),
        every_us: entry.every_s.map(us),
        probability: entry.probability.unwrap_or(1.0),
    };
    fault::make(&entry.name.0, &values, scope, client)
}

fn check_expect(
    spanned: &Spanned<Expect>,
    file: &File,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<ExpectPlan> {
    let (expect, span) = (spanned.get_ref(), spanned.span());
    check_condition::check(expect.that.get_ref(), names)
        .unwrap_or_else(|message| findings.add(&expect.that.span(), message));
    let pair = |[from_s, to_s]: [f64; 2]| (us(from_s), us(to_s));
    let windows: Vec<Window> = [
        expect.at_s.map(|at_s| Window::At(us(at_s))),
        expect.within_s.map(|range| Window::Within(pair(range).0, pair(range).1)),
        expect.always_s.map(|range| Window::Always(pair(range).0, pair(range).1)),
        expect.never_s.map(|range| Window::Never(pair(range).0, pair(range).1)),
        expect.eventually_s.map(|by_s| Window::Within(0, us(by_s))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let &[window] = windows.as_slice() else {
        let message = format!(
            "expected exactly one of at_s, within_s, always_s, never_s and eventually_s, found {}",
            windows.len()
        );
        findings.add(&span, message);
        return None;
    };
    let (from_us, to_us) = window.range_us();
    let duration_us = us(*file.duration_s.get_ref());
    if from_us > to_us || to_us > duration_us {
        let message = format!(
            "expected times in order and up to the duration of {} s, found {} to {}",
            file.duration_s.get_ref(),
            from_us as f64 / 1e6,
            to_us as f64 / 1e6
        );
        findings.add(&span, message);
    }
    let after = match &expect.after {
        None => None,
        Some(label) => {
            let step = names.labels.get(label.as_str()).copied();
            if step.is_none() {
                findings.add(&span, unknown_label(label, names));
            }
            step
        }
    };
    let line = findings.source.error(&span, "").line;
    Some(ExpectPlan { that: expect.that.get_ref().clone(), window, after, why: expect.why.clone(), line })
}

pub(super) fn unknown_label(label: &str, names: &Names<'_>) -> String {
    let known = names.labels.keys().copied().collect::<Vec<_>>().join(", ");
    format!("no step has the label \"{label}\"; there is: {known}")
}
