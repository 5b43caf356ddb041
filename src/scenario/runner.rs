//! Runs one scenario on one ATOM in virtual time.

use std::time::Duration;

use firmware_core::protocol::request::build;

use super::book::{Book, StepLog};
use super::cast::{Act, Cast, Stuck};
use super::check;
use super::condition::Condition;
use super::expect::{Miss, Watch};
use super::outcome::{Failure, Outcome, Verdict};
use super::plan::{Deed, Scenario, StepPlan};
use super::recovery;
use super::stopwatch::Stopwatch;
use super::tail::Tail;
use super::words;
use super::world::{Alone, World};
use crate::atom::fault::{Fault, FaultError, catalogue};
use crate::atom::{Atom, ClientId, FaultEvent, Output, Truth};
use crate::recording::trace;

/// The runner looks at the ATOM this often (µs): once per control period of 500 Hz.
const LOOK_US: u64 = 2_000;
/// Looks between two glances at the wall clock.
const LOOKS_PER_GUARD: u32 = 256;
/// Samples for recordings are this far apart (µs).
const SAMPLE_US: u64 = 20_000;
/// Why writing a trace into a `Vec` succeeds.
const TO_MEMORY: &str = "writing to memory does not fail";

/// What a run is to keep and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest time on the wall.
    pub wall: Duration,
    /// Keep a trace: every input and output.
    pub trace: bool,
    /// Keep goals and angles.
    pub samples: bool,
}

/// One run.
pub(super) struct Run<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) world: &'a mut dyn World,
    pub(super) book: Book,
    pub(super) tail: Tail,
    pub(super) failures: Vec<Failure>,
    cast: Cast,
    watch: Watch,
    limits: Limits,
    started: Stopwatch,
    looks: u32,
    trace: Option<trace::Writer<Vec<u8>>>,
    samples: Vec<Truth>,
    /// Faults of the file by the time they start, the last first.
    faults: Vec<usize>,
    /// The scenario is at its end: steps and expectations are over, only the recovery check goes on.
    ended: bool,
    /// The world ended the run.
    over: bool,
    /// Why the run cannot go on.
    impossible: Option<String>,
}

/// Runs a scenario on an ATOM of its own.
pub fn run(scenario: &Scenario, limits: Limits) -> Outcome {
    match Atom::new(&scenario.options) {
        Ok(atom) => run_in(&mut Alone(atom), scenario, limits),
        Err(error) => Outcome {
            name: scenario.name.clone(),
            path: scenario.path.clone(),
            seed: scenario.seed,
            verdict: Verdict::Impossible(error.to_string()),
            virtual_us: 0,
            wall: Duration::ZERO,
            trace: Vec::new(),
            samples: Vec::new(),
        },
    }
}

/// Runs a scenario in a world, from its present on.
#[expect(clippy::missing_panics_doc, reason = "writing to memory does not fail")]
pub fn run_in(world: &mut dyn World, scenario: &Scenario, limits: Limits) -> Outcome {
    let started = Stopwatch::start();
    let mut run = Run::new(scenario, world, limits, started);
    let in_time = run.play() && (!scenario.recovery || recovery::check(&mut run));
    let verdict = match (in_time, run.impossible.take()) {
        (false, _) => Verdict::TimedOut,
        (true, Some(message)) => Verdict::Impossible(message),
        (true, None) if run.failures.is_empty() => Verdict::Passed,
        (true, None) => Verdict::Failed(std::mem::take(&mut run.failures)),
    };
    if !run.over {
        run.take_outputs();
    }
    let end_us = run.world.atom().now_us();
    let trace = run.trace.take().map(|trace| trace.finish(end_us).expect(TO_MEMORY)).unwrap_or_default();
    Outcome {
        name: scenario.name.clone(),
        path: scenario.path.clone(),
        seed: scenario.seed,
        verdict,
        virtual_us: run.book.now_us(),
        wall: started.elapsed(),
        trace,
        samples: run.samples,
    }
}

impl<'a> Run<'a> {
    fn new(scenario: &'a Scenario, world: &'a mut dyn World, limits: Limits, started: Stopwatch) -> Self {
        let atom = world.atom();
        let trace = limits.trace.then(|| trace::Writer::begin(Vec::new(), atom).expect(TO_MEMORY));
        let truth = atom.truth();
        let names = scenario.clients.iter().map(|client| client.name.clone()).collect();
        let mut book = Book::new(atom.now_us(), truth, names);
        for step in scenario.steps.iter() {
            if let Some(label) = &step.label {
                let code = match &step.deed {
                    Deed::Send(bytes) => bytes.first().copied().unwrap_or(0),
                    Deed::Upload(upload) => upload.messages[0].1,
                    Deed::Wait | Deed::Connect | Deed::Close => 0,
                };
                book.steps.insert(label.clone(), StepLog { client: step.client, began_us: None, code });
            }
        }
        for condition in conditions(scenario) {
            prepare(condition, &mut book);
        }
        let mut faults: Vec<usize> = (0..scenario.faults.len()).collect();
        faults.sort_by_key(|index| std::cmp::Reverse(check::us(scenario.faults[*index].at_s)));
        Self {
            scenario,
            world,
            book,
            tail: Tail::default(),
            failures: Vec::new(),
            cast: Cast::new(scenario),
            watch: Watch::new(&scenario.expects),
            limits,
            started,
            looks: 0,
            trace,
            samples: Vec::new(),
            faults,
            ended: false,
            over: false,
            impossible: None,
        }
    }

    /// The scenario up to its end. False: the wall-clock guard or the world ended it.
    fn play(&mut self) -> bool {
        for client in 0..self.scenario.clients.len() {
            if self.scenario.clients[client].connected {
                self.connect(client);
            }
        }
        self.look();
        while self.book.now_us() < self.scenario.duration_us {
            let now_us = self.book.now_us();
            let next_us = ((now_us / LOOK_US + 1) * LOOK_US)
                .min(self.cast.next_due_us().max(now_us))
                .min(self.next_fault_us())
                .min(self.watch.next_edge_us(now_us))
                .min(self.scenario.duration_us);
            self.advance_to(next_us);
            if self.impossible.is_some() {
                return true;
            }
            if self.is_out_of_time() {
                return false;
            }
        }
        self.ended = true;
        for stuck in self.cast.unfinished(&self.book) {
            self.fail_step(stuck);
        }
        let misses = self.watch.finish(&self.scenario.expects, &self.book);
        self.take_misses(misses);
        true
    }

    /// Advances to a time from the start, and does all that is due then.
    pub(super) fn advance_to(&mut self, t_us: u64) {
        if !self.world.advance_to(self.book.start_us + t_us) {
            self.over = true;
            return;
        }
        self.take_outputs();
        while self.next_fault_us() <= t_us {
            self.start_fault();
        }
        self.look();
    }

    fn look(&mut self) {
        let truth = self.world.atom().truth();
        self.book.look(truth);
        for ((joint, address), value) in &mut self.book.registers {
            *value = self.world.atom().register(*joint, *address);
        }
        let now_us = self.book.now_us();
        self.tail.look(now_us, &truth);
        if self.limits.samples && now_us.is_multiple_of(SAMPLE_US) {
            self.samples.push(truth);
        }
        if self.ended {
            return;
        }
        if self.cast.next_due_us() <= now_us || self.cast.is_watching() {
            for act in self.cast.acts(now_us, &mut self.book) {
                self.carry_out(act);
            }
        }
        let misses = self.watch.look(&self.scenario.expects, &self.book);
        self.take_misses(misses);
    }

    /// The world ended the run, or the wall-clock guard does: it reads the clock now and then only.
    pub(super) fn is_out_of_time(&mut self) -> bool {
        self.looks += 1;
        self.over || (self.looks.is_multiple_of(LOOKS_PER_GUARD) && self.started.elapsed() > self.limits.wall)
    }

    fn carry_out(&mut self, act: Act) {
        let now_us = self.book.now_us();
        match act {
            Act::Connect(client) => self.connect(client),
            Act::Close(client) => self.close(client),
            Act::Begin(step) => self.begin(step),
            Act::Send { client, bytes, step } => {
                if let Some(step) = step {
                    let words = &self.scenario.steps[step].words;
                    let name = &self.book.names[client];
                    self.tail.event(now_us, format!("{name} → {words}"));
                }
                self.send(client, &bytes);
            }
            Act::Fail(stuck) => self.fail_step(stuck),
        }
    }

    /// A step begins. One that needs a connection, or no connection, must find it so.
    fn begin(&mut self, step: usize) {
        self.watch.step_began(&self.scenario.expects, step, self.book.now_us());
        let plan = &self.scenario.steps[step];
        let needed = match plan.deed {
            Deed::Wait | Deed::Close => return,
            Deed::Connect => false,
            Deed::Send(_) | Deed::Upload(_) => true,
        };
        if self.book.clients[plan.client].id.is_some() == needed {
            return;
        }
        let word = |connected: bool| if connected { "connected" } else { "not connected" };
        let name = &self.book.names[plan.client];
        let expected = format!("{name} {} when the step \"{}\" begins", word(needed), plan.words);
        self.fail_step(Stuck { step, expected, seen: word(!needed).to_owned() });
    }

    fn fail_step(&mut self, Stuck { step, expected, seen }: Stuck) {
        let t_us = self.book.now_us();
        let around = self.tail.lines(t_us, &self.book.truth);
        let StepPlan { line, label, .. } = &self.scenario.steps[step];
        self.failures.push(Failure { line: *line, expected, seen, t_us, why: label.clone(), around });
    }

    pub(super) fn send(&mut self, client: usize, bytes: &[u8]) {
        if let Some(id) = self.book.clients[client].id {
            self.world.atom().receive(id, bytes);
        }
    }

    fn connect(&mut self, client: usize) {
        let plan = &self.scenario.clients[client];
        let now_us = self.book.now_us();
        let id = self.world.connect(plan.transport);
        if let Some(wifi) = plan.wifi {
            self.world.atom().set_wifi(id, wifi);
        }
        self.book.clients[client].id = Some(id);
        let subscribe = plan.subscribe_hz.map(|hz| build::subscribe(hz).to_vec());
        self.cast.connected(now_us, client, subscribe);
        self.tail.event(now_us, format!("{} connects", plan.name));
    }

    pub(super) fn close(&mut self, client: usize) {
        if let Some(id) = self.book.clients[client].id.take() {
            let now_us = self.book.now_us();
            self.world.close(id);
            self.cast.disconnected(client);
            let name = &self.book.names[client];
            self.tail.event(now_us, format!("{name} closes"));
        }
    }

    fn client_of(&self, id: ClientId) -> Option<usize> {
        self.book.clients.iter().position(|client| client.id == Some(id))
    }

    fn take_outputs(&mut self) {
        let start_us = self.book.start_us;
        if let Some(trace) = &mut self.trace {
            while let Some(entry) = self.world.atom().poll_journal() {
                trace.entry(&entry).expect(TO_MEMORY);
            }
        }
        while let Some(output) = self.world.poll_output() {
            if let Some(trace) = &mut self.trace {
                trace.output(&output).expect(TO_MEMORY);
            }
            match output {
                Output::Message { t_us, to, bytes } => {
                    let t_us = t_us - start_us;
                    if let Some(client) = self.client_of(to)
                        && let Some(brief) = self.book.clients[client].take(t_us, &bytes)
                    {
                        let name = &self.book.names[client];
                        self.tail.event(t_us, format!("{name} ← {}", words::brief(&brief)));
                    }
                }
                Output::StatusLine { line, .. } => {
                    self.book.status_line = line;
                }
                Output::Closed { t_us, client: id } => {
                    if let Some(client) = self.client_of(id) {
                        self.book.clients[client].id = None;
                        self.cast.disconnected(client);
                        let name = &self.book.names[client];
                        self.tail.event(t_us - start_us, format!("the connection of {name} breaks"));
                    }
                }
            }
        }
        while let Some(FaultEvent { t_us, started, kind, .. }) = self.world.poll_fault_event() {
            let word = if started { "starts" } else { "ends" };
            self.tail.event(t_us - start_us, format!("fault {word}: {kind}"));
        }
    }

    fn next_fault_us(&self) -> u64 {
        self.faults.last().map_or(u64::MAX, |index| check::us(self.scenario.faults[*index].at_s))
    }

    fn start_fault(&mut self) {
        let Some(index) = self.faults.pop() else { return };
        let entry = &self.scenario.faults[index];
        let client = |name: &str| self.book.client(name).and_then(|client| client.id);
        let fault: Result<Fault, String> = check::to_fault(entry, &client).map_err(|error| {
            // Every name was looked up when the file was read.
            if let FaultError::UnknownClient { client, .. } = &error {
                format!("the client \"{client}\" is not connected at {} s", entry.at_s)
            } else {
                error.to_string()
            }
        });
        let given = fault.and_then(|fault| self.world.inject(fault).map_err(|error| error.to_string()));
        if let Err(error) = given {
            // The catalogue knows the fault, this ATOM cannot have it: never silently accepted.
            let known = catalogue::find(&entry.name.0).map_or("", |found| found.name);
            self.impossible = Some(format!("the fault {known} cannot be given: {error}"));
        }
        let atom = self.world.atom();
        atom.advance_to(atom.now_us());
    }

    fn take_misses(&mut self, misses: Vec<Miss>) {
        for Miss { index, expected, seen, t_us } in misses {
            let expect = &self.scenario.expects[index];
            let around = self.tail.lines(t_us, &self.book.truth);
            self.failures.push(Failure {
                line: expect.line,
                expected,
                seen,
                t_us,
                why: expect.why.clone(),
                around,
            });
        }
    }
}

/// Every condition of a scenario.
fn conditions(scenario: &Scenario) -> impl Iterator<Item = &Condition> {
    let whens = scenario.steps.iter().filter_map(|step| step.when.as_ref());
    whens.chain(scenario.expects.iter().map(|expect| &expect.that))
}

/// Notes the poses and registers that a condition will ask for.
fn prepare(condition: &Condition, book: &mut Book) {
    let mut pose = |since_s: Option<f64>| {
        book.poses.insert(check::us(since_s.unwrap_or(0.0)), None);
    };
    match condition {
        Condition::TcpMovedMm(tcp) | Condition::TcpTurnedDeg(tcp) => pose(tcp.since_s),
        Condition::TcpOffLineMm(line) => pose(line.since_s),
        Condition::Register(register) => {
            let joint = usize::from(register.joint) - 1;
            for address in register.address..register.address + register.bytes.unwrap_or(1) {
                book.registers.insert((joint, address), 0);
            }
        }
        Condition::All(list) | Condition::Any(list) => list.iter().for_each(|one| prepare(one, book)),
        Condition::Not(one) => prepare(one, book),
        Condition::State(_)
        | Condition::AngleDeg(_)
        | Condition::GoalDeg(_)
        | Condition::GoalErrorDeg(_)
        | Condition::SpeedDps(_)
        | Condition::GoalSpeedDps(_)
        | Condition::GoalAccelDps2(_)
        | Condition::LoadPercent(_)
        | Condition::TemperatureC(_)
        | Condition::VoltageV(_)
        | Condition::TorqueOn(_)
        | Condition::TcpMm(_)
        | Condition::Led(_)
        | Condition::Holder(_)
        | Condition::JointsInUse(_)
        | Condition::PlanValid(_)
        | Condition::Replies(_)
        | Condition::Order(_)
        | Condition::ReplyDelayMs(_)
        | Condition::Done(_)
        | Condition::Stream(_)
        | Condition::Telemetry(_)
        | Condition::Status(_)
        | Condition::StatusContains(_)
        | Condition::Bus(_)
        | Condition::Connected(_) => {}
    }
}
