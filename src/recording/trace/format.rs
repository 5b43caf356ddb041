//! The lines of a trace: a header, then inputs, outputs and events in order, each with its virtual time.

use firmware_core::platform::ClientId;
use firmware_core::protocol::codes;
use serde::{Deserialize, Serialize};

use crate::atom::fault::{Fault, FaultId, FaultKind};
use crate::atom::{AtomInput, FaultEvent, JournalEntry, Options, Output, client_name};
use crate::link::Profile;

/// The version of the format that this program writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format; see [`FORMAT_VERSION`].
    pub atom_sim_trace: u32,
    /// The program that wrote it.
    pub version: String,
    /// Virtual time at the start of the trace (µs): with power-up done, unless the options say `boot`.
    pub start_us: u64,
    /// How the ATOM started, seed and all.
    pub options: Options,
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Line {
    /// Input: a client connected.
    Connect {
        /// Virtual time (µs).
        t_us: u64,
        /// Who.
        #[serde(with = "client_name")]
        client: ClientId,
    },
    /// Input: a client is gone.
    Close {
        /// Virtual time (µs).
        t_us: u64,
        /// Who.
        #[serde(with = "client_name")]
        client: ClientId,
    },
    /// Input: a message.
    Received {
        /// Virtual time (µs).
        t_us: u64,
        /// From whom.
        #[serde(with = "client_name")]
        client: ClientId,
        /// Its bytes.
        #[serde(with = "hex")]
        bytes: Vec<u8>,
    },
    /// Input: a client's link got another quality.
    Wifi {
        /// Virtual time (µs).
        t_us: u64,
        /// Whose.
        #[serde(with = "client_name")]
        client: ClientId,
        /// Which.
        profile: Profile,
    },
    /// Input: a fault was given.
    Inject {
        /// Virtual time (µs).
        t_us: u64,
        /// The id it got.
        id: FaultId,
        /// The fault.
        fault: Fault,
    },
    /// Input: a fault was cleared.
    Clear {
        /// Virtual time (µs).
        t_us: u64,
        /// Which.
        id: FaultId,
    },
    /// Event: a fault started or ended.
    Fault {
        /// Virtual time (µs).
        t_us: u64,
        /// Which.
        id: FaultId,
        /// It started; otherwise it ended.
        started: bool,
        /// What it does.
        kind: FaultKind,
    },
    /// Output: a message.
    Sent {
        /// Virtual time (µs).
        t_us: u64,
        /// To whom.
        #[serde(with = "client_name")]
        client: ClientId,
        /// Its bytes.
        #[serde(with = "hex")]
        bytes: Vec<u8>,
    },
    /// Output: the ATOM closed a WebSocket.
    Closed {
        /// Virtual time (µs).
        t_us: u64,
        /// Whose.
        #[serde(with = "client_name")]
        client: ClientId,
    },
    /// Output: a status log line.
    StatusLine {
        /// Virtual time (µs).
        t_us: u64,
        /// The line.
        line: String,
    },
    /// The ATOM was made anew: all starts again at this time.
    Reset {
        /// Virtual time of the new ATOM (µs).
        start_us: u64,
        /// How it started.
        options: Box<Options>,
    },
    /// The trace ended in order.
    End {
        /// Virtual time (µs).
        t_us: u64,
    },
}

/// A message of the ATOM that comes by rate, STREAM or TELEM.
pub fn is_stream(message: &[u8]) -> bool {
    [Some(&codes::STREAM), Some(&codes::TELEM)].contains(&message.first())
}

impl Line {
    /// Virtual time (µs).
    pub fn t_us(&self) -> u64 {
        match self {
            Self::Connect { t_us, .. }
            | Self::Close { t_us, .. }
            | Self::Received { t_us, .. }
            | Self::Wifi { t_us, .. }
            | Self::Inject { t_us, .. }
            | Self::Clear { t_us, .. }
            | Self::Fault { t_us, .. }
            | Self::Sent { t_us, .. }
            | Self::Closed { t_us, .. }
            | Self::StatusLine { t_us, .. }
            | Self::Reset { start_us: t_us, .. }
            | Self::End { t_us } => *t_us,
        }
    }

    /// The input, if it is one.
    pub fn input(&self) -> Option<AtomInput> {
        match self.clone() {
            Self::Connect { client, .. } => Some(AtomInput::Connect(client)),
            Self::Close { client, .. } => Some(AtomInput::Close(client)),
            Self::Received { client, bytes, .. } => Some(AtomInput::Message { client, bytes }),
            Self::Wifi { client, profile, .. } => Some(AtomInput::Wifi { client, profile }),
            Self::Inject { id, fault, .. } => Some(AtomInput::Inject(id, fault)),
            Self::Clear { id, .. } => Some(AtomInput::Clear(id)),
            Self::Fault { .. }
            | Self::Sent { .. }
            | Self::Closed { .. }
            | Self::StatusLine { .. }
            | Self::Reset { .. }
            | Self::End { .. } => None,
        }
    }

    /// It is something that came out of the ATOM.
    pub fn is_output(&self) -> bool {
        match self {
            Self::Sent { .. } | Self::Closed { .. } | Self::StatusLine { .. } => true,
            Self::Connect { .. }
            | Self::Close { .. }
            | Self::Received { .. }
            | Self::Wifi { .. }
            | Self::Inject { .. }
            | Self::Clear { .. }
            | Self::Fault { .. }
            | Self::Reset { .. }
            | Self::End { .. } => false,
        }
    }
}

impl From<JournalEntry> for Line {
    fn from(entry: JournalEntry) -> Self {
        match entry {
            JournalEntry::Input(t_us, input) => match input {
                AtomInput::Connect(client) => Self::Connect { t_us, client },
                AtomInput::Close(client) => Self::Close { t_us, client },
                AtomInput::Message { client, bytes } => Self::Received { t_us, client, bytes },
                AtomInput::Wifi { client, profile } => Self::Wifi { t_us, client, profile },
                AtomInput::Inject(id, fault) => Self::Inject { t_us, id, fault },
                AtomInput::Clear(id) => Self::Clear { t_us, id },
            },
            JournalEntry::Fault(FaultEvent { t_us, id, started, kind }) => {
                Self::Fault { t_us, id, started, kind }
            }
        }
    }
}

impl From<&Output> for Line {
    fn from(output: &Output) -> Self {
        match output.clone() {
            Output::Message { t_us, to, bytes } => Self::Sent { t_us, client: to, bytes },
            Output::Closed { t_us, client } => Self::Closed { t_us, client },
            Output::StatusLine { t_us, line } => Self::StatusLine { t_us, line },
        }
    }
}

/// Bytes as hexadecimal digits.
pub(super) mod hex {
    use std::fmt::Write as _;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn text(bytes: &[u8]) -> String {
        bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
            _ => None,
        };
        text.as_bytes()
            .chunks(2)
            .map(pair)
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(|| D::Error::custom("expected an even number of hexadecimal digits"))
    }
}
