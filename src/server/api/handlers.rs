//! One function per path and method: checks the request, sends an order, answers.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use tokio::sync::{broadcast, oneshot};

use super::body::Body;
use super::error::{ApiError, Code};
use super::order::{Command, Order, Owner};
use super::replies::{
    CatalogueEntry, ClockReply, Event, FaultReply, FaultsReply, HealthReply, RecordingReply, RecordingsReply,
    Reply, RunReply, SessionReply, TruthReply,
};
use super::requests::{
    AdvanceRequest, FaultRequest, Nothing, ObjectRequest, PoseRequest, PowerCycleRequest, RecordingRequest,
    ResetRequest, ScenarioRequest, SessionRequest, SpeedRequest, StepRequest, WaitRequest, invalid, micros,
};
use super::scenarios;
use super::sessions::{Open, Sessions};
use crate::atom::fault::{FaultId, catalogue};
use crate::server::inputs::{Input, Inputs};

/// The header that names the session of a request.
pub(super) const SESSION_HEADER: &str = "atom-session";
/// Ticks of one step.
const TICKS_MAX: u32 = 60_000;
/// Leases that are taken (s).
const LEASE_S: std::ops::RangeInclusive<f64> = 0.1..=3600.0;

/// What every handler shares.
#[derive(Debug, Clone)]
pub(super) struct Api {
    pub(super) inputs: Inputs,
    pub(super) sessions: Sessions,
    pub(super) events: broadcast::Sender<Event>,
}

impl Api {
    /// Sends an order to the simulation thread and waits for its answer. Dropped when the client leaves.
    async fn ask(&self, owner: Owner, command: Command) -> Result<Json<Reply>, ApiError> {
        let (reply, answer) = oneshot::channel();
        let order = Box::new(Order { command, owner, reply });
        self.inputs.post(Input::Order(order)).map_err(|_| ApiError::stopping())?;
        answer.await.map_err(|_| ApiError::stopping())?.map(Json)
    }
}

/// The session that a request names, if any: it lives as long as this.
pub(super) struct Session(Owner, Option<Open>);

impl FromRequestParts<Api> for Session {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Some(name) = parts.headers.get(SESSION_HEADER) else { return Ok(Self(None, None)) };
        let name = name.to_str().unwrap_or("\u{fffd}");
        api.sessions.open(name).map(|(session, open)| Self(Some(session), Some(open)))
    }
}

/// Tells the simulation that a client left, which time that stands still would not.
struct Leaving(Inputs);

impl Drop for Leaving {
    fn drop(&mut self) {
        // An ended simulation has nothing left behind.
        let _ = self.0.post(Input::Left);
    }
}

type Answer = Result<Json<Reply>, ApiError>;

/// The simulation answers
#[utoipa::path(get, path = "/api/health", tag = "truth", responses((status = 200, body = HealthReply)))]
pub(super) async fn health(State(api): State<Api>) -> Result<Json<HealthReply>, ApiError> {
    let _clock = api.ask(None, Command::Clock).await?;
    Ok(Json(HealthReply { status: "ok", version: env!("CARGO_PKG_VERSION") }))
}

/// What really is, beside the protocol
#[utoipa::path(get, path = "/api/truth", tag = "truth", responses((status = 200, body = TruthReply)))]
pub(super) async fn truth(State(api): State<Api>, Session(owner, _open): Session) -> Answer {
    api.ask(owner, Command::Truth).await
}

/// Virtual time, its speed and who paused it
#[utoipa::path(get, path = "/api/clock", tag = "time", responses((status = 200, body = ClockReply)))]
pub(super) async fn clock(State(api): State<Api>, Session(owner, _open): Session) -> Answer {
    api.ask(owner, Command::Clock).await
}

/// The faults that are there or still to come
#[utoipa::path(get, path = "/api/faults", tag = "faults", responses((status = 200, body = FaultsReply)))]
pub(super) async fn faults(State(api): State<Api>, Session(owner, _open): Session) -> Answer {
    api.ask(owner, Command::Faults).await
}

/// The table of faults: all names with their parameters
#[utoipa::path(get, path = "/api/faults/catalogue", tag = "faults", responses((status = 200, body = [CatalogueEntry])))]
pub(super) async fn fault_catalogue() -> Json<Vec<CatalogueEntry>> {
    let entry = |entry: &'static crate::atom::fault::entry::Entry| CatalogueEntry {
        name: entry.name,
        what: entry.what,
        shows: entry.shows,
        parameters: entry.parameters.iter().map(|p| (p.name, p.kind.expected())).collect(),
    };
    Json(catalogue::all().map(entry).collect())
}

/// Gives a fault; its parameters stand beside `name`
#[utoipa::path(post, path = "/api/faults", tag = "faults", request_body = FaultRequest,
    responses((status = 200, body = FaultReply), (status = 422, body = ApiError)))]
pub(super) async fn inject(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<FaultRequest>,
) -> Answer {
    api.ask(owner, Command::Inject(request)).await
}

/// Clears a fault: it ends now, or never starts
#[utoipa::path(delete, path = "/api/faults/{id}", tag = "faults", params(("id" = u32, Path, description = "Number of the fault")),
    responses((status = 200, body = FaultsReply), (status = 404, body = ApiError)))]
pub(super) async fn clear_fault(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Path(id): Path<String>,
) -> Answer {
    let number = id.parse().map_err(|_| invalid("id", "the number of a fault", &id))?;
    api.ask(owner, Command::ClearFault(FaultId(number))).await
}

/// Clears every fault
#[utoipa::path(delete, path = "/api/faults", tag = "faults", responses((status = 200, body = FaultsReply)))]
pub(super) async fn clear_faults(State(api): State<Api>, Session(owner, _open): Session) -> Answer {
    api.ask(owner, Command::ClearFaults).await
}

/// Presses the ATOM's button
#[utoipa::path(post, path = "/api/button", tag = "robot", request_body = Nothing,
    responses((status = 200, body = FaultReply)))]
pub(super) async fn button(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(Nothing {}): Body<Nothing>,
) -> Answer {
    api.ask(owner, Command::Inject(plain_fault("button.press", None))).await
}

/// Takes power away and gives it back
#[utoipa::path(post, path = "/api/power-cycle", tag = "robot", request_body = PowerCycleRequest,
    responses((status = 200, body = FaultReply)))]
pub(super) async fn power_cycle(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<PowerCycleRequest>,
) -> Answer {
    api.ask(owner, Command::Inject(plain_fault(request.what.fault(), request.for_s))).await
}

/// Puts an object between the fingers, or takes it out
#[utoipa::path(put, path = "/api/object", tag = "robot", request_body = ObjectRequest,
    responses((status = 200, body = FaultReply), (status = 422, body = ApiError)))]
pub(super) async fn object(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<ObjectRequest>,
) -> Answer {
    api.ask(owner, Command::Object(request)).await
}

/// Puts the arm in a pose: a reset that keeps everything else
#[utoipa::path(put, path = "/api/pose", tag = "robot", request_body = PoseRequest,
    responses((status = 200, body = ClockReply), (status = 422, body = ApiError)))]
pub(super) async fn pose(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<PoseRequest>,
) -> Answer {
    let request = ResetRequest { angles_deg: Some(request.angles_deg), ..ResetRequest::default() };
    api.ask(owner, Command::Reset(request)).await
}

/// Starts the ATOM anew: time, arm, controller, faults; clients must connect again
#[utoipa::path(post, path = "/api/reset", tag = "robot", request_body = ResetRequest,
    responses((status = 200, body = ClockReply), (status = 422, body = ApiError)))]
pub(super) async fn reset(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<ResetRequest>,
) -> Answer {
    api.ask(owner, Command::Reset(request)).await
}

/// Sets how fast virtual time goes
#[utoipa::path(put, path = "/api/speed", tag = "time", request_body = SpeedRequest,
    responses((status = 200, body = ClockReply), (status = 422, body = ApiError)))]
pub(super) async fn speed(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<SpeedRequest>,
) -> Answer {
    api.ask(owner, Command::Speed(request.speed.speed()?)).await
}

/// Stops virtual time
#[utoipa::path(post, path = "/api/pause", tag = "time", request_body = Nothing,
    responses((status = 200, body = ClockReply)))]
pub(super) async fn pause(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(Nothing {}): Body<Nothing>,
) -> Answer {
    api.ask(owner, Command::Pause).await
}

/// Ends the pause of this session; time goes on once nobody pauses it
#[utoipa::path(post, path = "/api/resume", tag = "time", request_body = Nothing,
    responses((status = 200, body = ClockReply)))]
pub(super) async fn resume(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(Nothing {}): Body<Nothing>,
) -> Answer {
    api.ask(owner, Command::Resume).await
}

/// While paused: goes on to the end of some network ticks of 1 ms
#[utoipa::path(post, path = "/api/step", tag = "time", request_body = StepRequest,
    responses((status = 200, body = ClockReply), (status = 409, body = ApiError)))]
pub(super) async fn step(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(StepRequest { ticks }): Body<StepRequest>,
) -> Answer {
    if !(1..=TICKS_MAX).contains(&ticks) {
        return Err(invalid("ticks", &format!("1 to {TICKS_MAX}"), ticks));
    }
    api.ask(owner, Command::Step(u64::from(ticks))).await
}

/// While paused: goes on by a time, as fast as the host can
#[utoipa::path(post, path = "/api/advance", tag = "time", request_body = AdvanceRequest,
    responses((status = 200, body = ClockReply), (status = 409, body = ApiError)))]
pub(super) async fn advance(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(AdvanceRequest { for_s }): Body<AdvanceRequest>,
) -> Answer {
    api.ask(owner, Command::Advance(micros("for_s", for_s)?)).await
}

/// Waits in virtual time until a condition is true; blocks nobody else
#[utoipa::path(post, path = "/api/wait", tag = "time", request_body = WaitRequest,
    responses((status = 200, body = ClockReply), (status = 409, body = ApiError), (status = 422, body = ApiError)))]
pub(super) async fn wait(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<WaitRequest>,
) -> Answer {
    request.until.check()?;
    let WaitRequest { until, timeout_s, advance } = request;
    api.ask(owner, Command::Wait { until, timeout_us: micros("timeout_s", timeout_s)?, advance }).await
}

/// The traces and recordings that are on
#[utoipa::path(get, path = "/api/recordings", tag = "recordings", responses((status = 200, body = RecordingsReply)))]
pub(super) async fn recordings(State(api): State<Api>, Session(owner, _open): Session) -> Answer {
    api.ask(owner, Command::Recordings).await
}

/// Starts a trace, with a reset, or a recording, in the folder of the options
#[utoipa::path(post, path = "/api/recordings", tag = "recordings", request_body = RecordingRequest,
    responses((status = 200, body = RecordingReply), (status = 403, body = ApiError), (status = 409, body = ApiError),
        (status = 422, body = ApiError)))]
pub(super) async fn start_recording(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<RecordingRequest>,
) -> Answer {
    api.ask(owner, Command::StartRecording(request)).await
}

/// Ends a trace or recording in order
#[utoipa::path(delete, path = "/api/recordings/{id}", tag = "recordings", params(("id" = u32, Path, description = "Number of the recording")),
    responses((status = 200, body = RecordingsReply), (status = 404, body = ApiError), (status = 500, body = ApiError)))]
pub(super) async fn end_recording(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Path(id): Path<String>,
) -> Answer {
    let number = id.parse().map_err(|_| invalid("id", "the number of a recording", &id))?;
    api.ask(owner, Command::EndRecording(number)).await
}

/// Runs a scenario live: its clients, faults and expectations on the served ATOM; answers when it is over
#[utoipa::path(post, path = "/api/scenarios/run", tag = "scenarios", request_body = ScenarioRequest,
    responses((status = 200, body = RunReply), (status = 409, body = ApiError), (status = 422, body = ApiError)))]
pub(super) async fn run_scenario(
    State(api): State<Api>,
    Session(owner, _open): Session,
    Body(request): Body<ScenarioRequest>,
) -> Answer {
    let fresh = request.fresh;
    // A big file takes its time, which is not that of other requests.
    let read = tokio::task::spawn_blocking(move || scenarios::read(&request)).await;
    let scenario = Box::new(read.map_err(|_| ApiError::stopping())??);
    // Dropped after the answer's receiver, also when the client leaves.
    let _leaving = Leaving(api.inputs.clone());
    api.ask(owner, Command::RunScenario { scenario, fresh }).await
}

/// Starts a session that lives by its lease
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = SessionRequest,
    responses((status = 200, body = SessionReply), (status = 422, body = ApiError)))]
pub(super) async fn start_session(
    State(api): State<Api>,
    Body(SessionRequest { lease_s }): Body<SessionRequest>,
) -> Result<Json<SessionReply>, ApiError> {
    if !LEASE_S.contains(&lease_s) {
        return Err(invalid("lease_s", "0.1 to 3600", lease_s));
    }
    let session = api.sessions.start_leased(Duration::from_secs_f64(lease_s))?;
    Ok(Json(SessionReply { session: session.to_string(), lease_s }))
}

/// Ends a session, and with it the faults, pauses, speeds, waits, recordings and scenarios it owns
#[utoipa::path(delete, path = "/api/sessions/{session}", tag = "sessions", params(("session" = String, Path, description = "Name of the session")),
    responses((status = 200, body = Nothing), (status = 404, body = ApiError)))]
pub(super) async fn end_session(
    State(api): State<Api>,
    Path(name): Path<String>,
) -> Result<Json<Nothing>, ApiError> {
    let (session, _open) = api.sessions.open(&name)?;
    api.sessions.end(session);
    // When this is answered, everything is undone.
    let _clock = api.ask(None, Command::Clock).await?;
    Ok(Json(Nothing {}))
}

/// An answer to a path that does not exist.
pub(super) async fn not_found() -> ApiError {
    ApiError::new(Code::NotFound, "no such path; GET /api/openapi.json describes those there are")
}

/// An answer to a method that a path does not have.
pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        Code::MethodNotAllowed,
        "the path has no such method; GET /api/openapi.json describes those there are",
    )
}

fn plain_fault(name: &str, for_s: Option<f64>) -> FaultRequest {
    FaultRequest {
        name: name.to_owned(),
        after_s: None,
        for_s,
        every_s: None,
        probability: None,
        parameters: std::collections::BTreeMap::new(),
    }
}
