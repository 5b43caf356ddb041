//! Errors of the command API: a stable code for programs, a message for people.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong. Codes stay as they are; new ones may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The command API is off.
    Off,
    /// The request comes from another machine.
    RemoteRefused,
    /// The request comes from a web page of another origin.
    OriginRefused,
    /// The Host header names a foreign host.
    HostRefused,
    /// No such path.
    NotFound,
    /// The path has no such method.
    MethodNotAllowed,
    /// The body did not come in time.
    TooSlow,
    /// The body is too large.
    TooLarge,
    /// The body is no JSON, or not of the form the path takes.
    InvalidBody,
    /// A value is outside its range.
    InvalidValue,
    /// No such fault in the table, or no such parameter.
    UnknownFault,
    /// The fault cannot be given to this ATOM.
    FaultRefused,
    /// No fault has that number.
    NoSuchFault,
    /// There is no folder for files of clients.
    NoFolder,
    /// A file of that name is there already.
    NameTaken,
    /// No recording has that number.
    NoSuchRecording,
    /// A file cannot be written.
    RecordingFailed,
    /// The session does not exist, or has ended.
    UnknownSession,
    /// Time can be advanced by command only while it is paused.
    NotPaused,
    /// The condition did not become true in the virtual time given.
    WaitTimeout,
    /// The ATOM was reset, or the session ended, before the wait or the scenario was over.
    Interrupted,
    /// The text is no scenario, or one that cannot be.
    InvalidScenario,
    /// A scenario runs already.
    ScenarioRunning,
    /// Too many waits, sessions, faults or recordings at once.
    TooMany,
    /// The simulator stops.
    Stopping,
}

impl Code {
    /// The HTTP status that goes with it.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Off | Self::RemoteRefused | Self::OriginRefused | Self::HostRefused | Self::NoFolder => {
                StatusCode::FORBIDDEN
            }
            Self::NotFound | Self::NoSuchFault | Self::NoSuchRecording | Self::UnknownSession => {
                StatusCode::NOT_FOUND
            }
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::InvalidBody => StatusCode::BAD_REQUEST,
            Self::InvalidValue | Self::UnknownFault | Self::FaultRefused | Self::InvalidScenario => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::NotPaused
            | Self::WaitTimeout
            | Self::Interrupted
            | Self::NameTaken
            | Self::ScenarioRunning => StatusCode::CONFLICT,
            Self::RecordingFailed => StatusCode::INTERNAL_SERVER_ERROR,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An error as it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong, for programs.
    pub code: Code,
    /// What was expected, what was found, what to do.
    pub message: String,
}

/// The body of an answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiError {
    /// The error.
    pub error: ErrorBody,
}

impl ApiError {
    /// An error with its message: what was expected, what was found, what to do.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { error: ErrorBody { code, message: message.into() } }
    }

    /// What went wrong.
    pub fn code(&self) -> Code {
        self.error.code
    }

    pub(in crate::server) fn interrupted(why: &str) -> Self {
        Self::new(Code::Interrupted, why)
    }

    pub(in crate::server) fn impossible_scenario(why: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidScenario, format!("the ATOM of the scenario cannot be: {why}"))
    }

    pub(super) fn stopping() -> Self {
        Self::new(Code::Stopping, "the simulator stops")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.code().status(), Json(self)).into_response()
    }
}
