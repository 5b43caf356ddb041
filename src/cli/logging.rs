//! The log on standard error. Standard output carries results only.

use std::io::{IsTerminal, stderr};

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How much the log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What needs attention: lost messages, a host that was late.
    Warn,
    /// Start, stop, clients that come and go.
    Info,
    /// Single refusals and socket errors.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    const fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Starts the log. Libraries below the simulator speak from `warn` on only.
pub(crate) fn start(level: LogLevel) {
    let libraries = level.filter().min(LevelFilter::WARN);
    let targets = Targets::new().with_target("atom_sim", level.filter()).with_default(libraries);
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    tracing_subscriber::registry().with(lines).with(targets).init();
}
