//! Carries orders out, on the simulation thread, between two instants of virtual time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use tokio::sync::broadcast;

use super::error::{ApiError, Code};
use super::order::{Command, LiveScenario, Order, Owner, SessionNumber};
use super::recordings::Recordings;
use super::replies::{ClockReply, Event, FaultReply, FaultsReply, Reply, TruthReply};
use super::requests::{
    FaultRequest, ObjectRequest, Parameter, RecordingFormat, RecordingRequest, ResetRequest, SpeedValue,
    invalid,
};
use super::scenarios::Stage;
use super::sessions::Sessions;
use super::tempo::Tempo;
use super::waits::{Until, Wait, Waits};
use crate::atom::fault::{self, FaultError, FaultId, Value};
use crate::atom::{Atom, Options, TICK_US, client_name};
use crate::recording::Keepers;
use crate::server::Speed;
use crate::server::clients::Clients;
use crate::server::pacer::Pacer;
use crate::server::websocket::Presence;

/// Faults given by the API that are there or still to come.
const FAULTS_MAX: usize = 1_000;
/// Events that an event stream may be behind.
const EVENTS_BEHIND_MAX: usize = 256;

/// A fault as it was given.
#[derive(Debug)]
struct Given {
    name: String,
    parameters: BTreeMap<String, Parameter>,
    owner: Owner,
}

/// What an order finds when it is carried out.
#[derive(Debug)]
pub(in crate::server) struct Present<'a> {
    pub(in crate::server) atom: &'a mut Atom,
    pub(in crate::server) pacer: &'a mut Pacer,
    pub(in crate::server) clients: &'a mut Clients,
    pub(in crate::server) keepers: &'a mut Keepers,
    /// The wall time at which the order came.
    pub(in crate::server) at: Instant,
}

/// What the command API keeps on the simulation thread.
#[derive(Debug)]
pub(in crate::server) struct Desk {
    sessions: Sessions,
    tempo: Tempo,
    waits: Waits,
    faults: BTreeMap<FaultId, Given>,
    /// The object between the fingers, when the API put it there.
    object: Option<FaultId>,
    recordings: Recordings,
    stage: Stage,
    /// How the served ATOM was made, while that of a scenario stands in its place.
    served: Option<Options>,
    websocket: Presence,
    events: broadcast::Sender<Event>,
}

impl Desk {
    /// Files of clients go into `folder`.
    pub(in crate::server) fn new(
        speed: Speed,
        sessions: Sessions,
        folder: Option<PathBuf>,
        websocket: Presence,
    ) -> Self {
        Self {
            sessions,
            tempo: Tempo::new(speed),
            waits: Waits::default(),
            faults: BTreeMap::new(),
            object: None,
            recordings: Recordings::new(folder),
            stage: Stage::default(),
            served: None,
            websocket,
            events: broadcast::Sender::new(EVENTS_BEHIND_MAX),
        }
    }

    /// The scenario that is on, and the one that is about to be.
    pub(in crate::server) fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// Where the event streams hear what happens.
    pub(in crate::server) fn events(&self) -> broadcast::Sender<Event> {
        self.events.clone()
    }

    /// Time must go on for somebody's wait although it is paused.
    pub(in crate::server) fn drives(&mut self) -> bool {
        self.tempo.is_paused() && self.waits.drive()
    }

    /// When to look at the waits next (virtual µs).
    pub(in crate::server) fn next_look_us(&self, now_us: u64) -> Option<u64> {
        self.waits.next_look_us(now_us)
    }

    /// Looks at the waits.
    pub(in crate::server) fn look(&mut self, atom: &Atom) {
        let truth = self.waits.need_truth().then(|| atom.truth());
        let holder = truth.and_then(|truth| truth.holder).map(client_name::name);
        let clock = clock(&self.tempo, atom);
        self.waits.look(
            atom.now_us(),
            |condition| truth.is_some_and(|truth| condition.holds(&truth, holder.as_deref())),
            || Reply::Clock(clock.clone()),
        );
    }

    /// Tells the event streams and a scenario what happened to faults, and forgets those that are over.
    pub(in crate::server) fn publish(&mut self, atom: &mut Atom) {
        let mut ended = false;
        while let Some(event) = atom.poll_fault_event() {
            self.stage.saw_fault(&event);
            let id = event.id;
            let Some(given) = self.faults.get(&id) else { continue };
            let (t_s, name) = (event.t_us as f64 / 1e6, given.name.clone());
            ended |= !event.started;
            tracing::info!(
                "fault {} {} {} at {t_s:.3} s",
                id.0,
                name,
                if event.started { "starts" } else { "ends" }
            );
            self.tell(if event.started {
                Event::FaultStarted { t_s, id: id.0, name }
            } else {
                Event::FaultEnded { t_s, id: id.0, name }
            });
        }
        if ended {
            self.forget_ended(atom);
        }
    }

    /// Carries an order out and answers it.
    pub(in crate::server) fn carry_out(&mut self, order: Order, present: &mut Present<'_>) {
        let Order { command, owner, reply } = order;
        if let Some(session) = owner.filter(|session| !self.sessions.is_alive(*session)) {
            let _ = reply.send(Err(Sessions::unknown(&session.to_string())));
            return;
        }
        let wait = |until, end_us, drives, reply| Wait { until, end_us, drives, owner, reply };
        let now_us = present.atom.now_us();
        let result = match command {
            Command::Step(ticks) if self.tempo.is_paused() => {
                let end_us = (now_us / TICK_US).saturating_add(ticks).saturating_mul(TICK_US);
                self.waits.add(wait(Until::Time, end_us, true, reply));
                return;
            }
            Command::Advance(by_us) if self.tempo.is_paused() => {
                self.waits.add(wait(Until::Time, now_us.saturating_add(by_us), true, reply));
                self.look(present.atom);
                return;
            }
            Command::Wait { until, timeout_us, advance } => {
                let end_us = now_us.saturating_add(timeout_us);
                self.waits.add(wait(Until::Condition(until), end_us, advance, reply));
                self.look(present.atom);
                return;
            }
            Command::RunScenario { scenario, fresh } => {
                self.stage.put(LiveScenario { scenario, fresh, owner, reply });
                return;
            }
            Command::Step(_) | Command::Advance(_) => Err(ApiError::new(
                Code::NotPaused,
                "time is not paused; POST /api/pause first, or wait for a time with POST /api/wait",
            )),
            Command::Truth => Ok(Reply::Truth(Box::new(TruthReply::new(
                &present.atom.truth(),
                present.clients.list(),
                present.atom.messages_lost(),
            )))),
            Command::Clock => Ok(Reply::Clock(clock(&self.tempo, present.atom))),
            Command::Faults => Ok(Reply::Faults(self.list(present.atom))),
            Command::Inject(request) => {
                self.inject(request, owner, present).map(|id| self.fault_reply(id, present.atom))
            }
            Command::ClearFault(id) => self.clear(id, present),
            Command::ClearFaults => {
                present.atom.clear_faults();
                self.publish(present.atom);
                self.forget_ended(present.atom);
                Ok(Reply::Faults(self.list(present.atom)))
            }
            Command::Object(request) => self.put_object(request, owner, present),
            Command::Speed(speed) => {
                self.tempo.set_speed(owner, speed);
                Ok(self.change_tempo(present))
            }
            Command::Pause => {
                self.tempo.pause(owner);
                Ok(self.change_tempo(present))
            }
            Command::Resume => {
                self.tempo.resume(owner);
                Ok(self.change_tempo(present))
            }
            Command::Reset(request) => self.reset(&request, present),
            Command::Recordings => Ok(Reply::Recordings(self.recordings.list(present.keepers))),
            Command::StartRecording(request) => self.start_recording(&request, owner, present),
            Command::EndRecording(id) => {
                self.recordings.end(id, present.keepers, present.atom).map(Reply::Recordings)
            }
        };
        let _ = reply.send(result);
    }

    /// A session ended: what it left behind ends too.
    pub(in crate::server) fn end_session(&mut self, session: SessionNumber, present: &mut Present<'_>) {
        let owned: Vec<FaultId> =
            self.faults.iter().filter(|(_, given)| given.owner == Some(session)).map(|(&id, _)| id).collect();
        for id in owned {
            present.atom.clear_fault(id);
        }
        self.publish(present.atom);
        self.forget_ended(present.atom);
        self.waits.interrupt(Some(Some(session)), "the session of this wait ended");
        self.tempo.end(session);
        self.stage.end_session(session);
        self.recordings.end_session(session, present.keepers, present.atom);
        self.change_tempo(present);
        tracing::info!("API session {session} ended");
    }

    fn change_tempo(&mut self, present: &mut Present<'_>) -> Reply {
        let before = present.pacer.speed();
        present.pacer.set_speed(self.tempo.speed(), present.atom.now_us(), present.at);
        let clock = clock(&self.tempo, present.atom);
        if present.pacer.speed() != before {
            self.tell(Event::Clock(clock.clone()));
        }
        Reply::Clock(clock)
    }

    fn inject(
        &mut self,
        request: FaultRequest,
        owner: Owner,
        present: &mut Present<'_>,
    ) -> Result<FaultId, ApiError> {
        if self.faults.len() >= FAULTS_MAX {
            return Err(ApiError::new(
                Code::TooMany,
                format!("{FAULTS_MAX} faults are there already; clear some"),
            ));
        }
        let scope = request.scope()?;
        let values: BTreeMap<String, Value> =
            request.parameters.iter().map(|(key, value)| (key.clone(), value.into())).collect();
        let client = |name: &str| present.clients.ids().find(|id| client_name::name(*id) == name);
        let fault = fault::make(&request.name, &values, scope, &client)
            .map_err(|error| ApiError::new(code_of(&error), error.to_string()))?;
        let id = present
            .atom
            .inject(fault)
            .map_err(|error| ApiError::new(Code::FaultRefused, error.to_string()))?;
        self.faults.insert(id, Given { name: request.name, parameters: request.parameters, owner });
        Ok(id)
    }

    fn clear(&mut self, id: FaultId, present: &mut Present<'_>) -> Result<Reply, ApiError> {
        if !self.faults.contains_key(&id) {
            return Err(ApiError::new(
                Code::NoSuchFault,
                format!("no fault has the number {}; GET /api/faults lists those there are", id.0),
            ));
        }
        present.atom.clear_fault(id);
        self.publish(present.atom);
        self.forget_ended(present.atom);
        Ok(Reply::Faults(self.list(present.atom)))
    }

    fn put_object(
        &mut self,
        request: ObjectRequest,
        owner: Owner,
        present: &mut Present<'_>,
    ) -> Result<Reply, ApiError> {
        let (name, parameters) = match (request.angle_deg, request.width_mm) {
            (Some(_), Some(_)) => return Err(invalid("object", "angle_deg or width_mm, not both", "both")),
            (Some(deg), None) => ("gripper.object_in", vec![("angle_deg", deg)]),
            (None, Some(mm)) => ("gripper.object_in", vec![("width_mm", mm)]),
            (None, None) => ("gripper.object_out", vec![]),
        };
        let parameters =
            parameters.into_iter().map(|(key, value)| (key.to_owned(), Parameter::Number(value)));
        let fault = FaultRequest {
            name: name.to_owned(),
            after_s: None,
            for_s: None,
            every_s: None,
            probability: None,
            parameters: parameters.collect(),
        };
        let id = self.inject(fault, owner, present)?;
        // The object that was there goes first, or its end would take the new one out.
        if let Some(old) = self.object.replace(id) {
            present.atom.clear_fault(old);
        }
        self.forget_ended(present.atom);
        Ok(self.fault_reply(id, present.atom))
    }

    fn reset(&mut self, request: &ResetRequest, present: &mut Present<'_>) -> Result<Reply, ApiError> {
        let atom = self.served_anew(request, present.atom)?;
        Ok(Reply::Clock(self.put_in_place(atom, present)))
    }

    /// Starts a trace or recording.
    fn start_recording(
        &mut self,
        request: &RecordingRequest,
        owner: Owner,
        present: &mut Present<'_>,
    ) -> Result<Reply, ApiError> {
        let RecordingRequest { format, name, reset } = request;
        if *format == RecordingFormat::Trace && present.atom.options().recording.is_some() {
            return Err(invalid(
                "format",
                "csv or mcap",
                "trace, which would not keep what --recording plays",
            ));
        }
        let place = self.recordings.take_place(*format, name)?;
        // A trace begins with an ATOM of its own.
        let anew = match format {
            RecordingFormat::Csv | RecordingFormat::Mcap => None,
            RecordingFormat::Trace => Some(ResetRequest::default()),
        };
        let reset = reset.as_ref().or(anew.as_ref());
        let atom = match reset.map(|reset| self.served_anew(reset, present.atom)).transpose() {
            Ok(atom) => atom,
            Err(error) => {
                place.give_up();
                return Err(error);
            }
        };
        if let Some(atom) = atom {
            self.put_in_place(atom, present);
            // Whatever else is kept learns of the reset before the new file begins.
            present.keepers.take_inputs(present.atom);
        }
        self.recordings.start(place, owner, present.keepers, present.atom).map(Reply::Recording)
    }

    /// The served ATOM, made anew with what a reset changes.
    fn served_anew(&self, request: &ResetRequest, present: &Atom) -> Result<Atom, ApiError> {
        let options = reset_options(request, self.served.as_ref().unwrap_or(present.options()))?;
        Atom::new(&options).map_err(|error| invalid("angles_deg", "a pose of the arm", error))
    }

    /// Puts the ATOM of a scenario in the place of the one there is, until the next reset.
    pub(in crate::server) fn lend_place(&mut self, atom: Atom, present: &mut Present<'_>) {
        let served = self.served.take().unwrap_or_else(|| present.atom.options().clone());
        self.put_in_place(atom, present);
        self.served = Some(served);
    }

    /// Puts another ATOM in the place of the one there is.
    fn put_in_place(&mut self, atom: Atom, present: &mut Present<'_>) -> ClockReply {
        self.served = None;
        self.stage.atom_replaced();
        self.websocket.set(atom.options().level.has_web_socket_and_control());
        *present.atom = atom;
        present.clients.forget_all();
        self.faults.clear();
        self.object = None;
        self.waits.interrupt(None, "the ATOM was reset");
        present.pacer.set_speed(self.tempo.speed(), present.atom.now_us(), present.at);
        let clock = clock(&self.tempo, present.atom);
        self.tell(Event::Reset { t_s: clock.t_s });
        clock
    }

    fn list(&self, atom: &Atom) -> FaultsReply {
        let active: BTreeMap<FaultId, bool> = atom.faults().map(|(id, _, active)| (id, active)).collect();
        let faults =
            self.faults.iter().map(|(id, given)| reply_of(*id, given, active.get(id).copied())).collect();
        FaultsReply { faults }
    }

    fn fault_reply(&self, id: FaultId, atom: &Atom) -> Reply {
        let active = atom.faults().find(|(of, ..)| *of == id).map(|(_, _, active)| active);
        self.faults
            .get(&id)
            .map_or_else(|| Reply::Faults(self.list(atom)), |given| Reply::Fault(reply_of(id, given, active)))
    }

    /// Forgets faults that are over.
    fn forget_ended(&mut self, atom: &Atom) {
        let there: Vec<FaultId> = atom.faults().map(|(id, ..)| id).collect();
        self.faults.retain(|id, _| there.binary_search(id).is_ok());
    }

    fn tell(&self, event: Event) {
        // Without an event stream there is nobody to tell.
        let _ = self.events.send(event);
    }
}

fn reply_of(id: FaultId, given: &Given, active: Option<bool>) -> FaultReply {
    FaultReply {
        id: id.0,
        name: given.name.clone(),
        parameters: given.parameters.clone(),
        active: active.unwrap_or(false),
        session: given.owner.map(|session| session.to_string()),
    }
}

/// The code of what is wrong with a fault.
fn code_of(error: &FaultError) -> Code {
    match error {
        FaultError::UnknownFault { .. } | FaultError::UnknownParameter { .. } => Code::UnknownFault,
        FaultError::Missing { .. }
        | FaultError::Invalid { .. }
        | FaultError::NotOneOf { .. }
        | FaultError::UnknownClient { .. } => Code::InvalidValue,
    }
}

fn clock(tempo: &Tempo, atom: &Atom) -> ClockReply {
    ClockReply {
        t_s: atom.now_us() as f64 / 1e6,
        speed: match tempo.running() {
            Speed::Factor(factor) => SpeedValue::Factor(factor),
            Speed::Max => SpeedValue::Name("max".to_owned()),
            Speed::Paused => SpeedValue::Name("paused".to_owned()),
        },
        paused: tempo.is_paused(),
        paused_by: tempo
            .paused_by()
            .map(|owner| owner.map_or_else(String::new, |session| session.to_string()))
            .collect(),
    }
}

fn reset_options(request: &ResetRequest, before: &Options) -> Result<Options, ApiError> {
    let mut options = before.clone();
    if let Some(seed) = request.seed {
        options.hardware.seed = seed;
    }
    if let Some(gripper) = request.gripper {
        options.hardware.gripper = gripper;
    }
    if let Some(level) = request.level()? {
        options.level = level;
    }
    if let Some(boot) = request.boot {
        options.boot = boot;
    }
    if let Some(angles_deg) = &request.angles_deg {
        let pose_deg = &mut options.hardware.pose_deg;
        let joints = angles_deg.len();
        if joints != pose_deg.len() && joints + 1 != pose_deg.len() {
            return Err(invalid("angles_deg", "6 angles (J1–J6) or 7 (with J7, the gripper)", joints));
        }
        pose_deg[..joints].copy_from_slice(angles_deg);
    }
    Ok(options)
}
