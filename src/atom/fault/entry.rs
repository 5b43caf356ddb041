//! What an entry of the table of faults says.

use super::kind::FaultKind;
use super::parse::Arguments;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterKind {
    /// A number in a range, both ends included.
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
        /// Only whole numbers.
        integer: bool,
        /// Its unit, for people.
        unit: &'static str,
    },
    /// A list of numbers.
    Numbers {
        /// How many.
        count: usize,
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
        /// Only whole numbers.
        integer: bool,
        /// Their unit, for people.
        unit: &'static str,
    },
    /// The name of a client.
    Client,
    /// `to-atom` or `from-atom`.
    Direction,
}

impl ParameterKind {
    /// In words: what a value must be.
    pub fn expected(self) -> String {
        match self {
            Self::Number { min, max, integer, unit } => {
                let number = if integer { "a whole number" } else { "a number" };
                format!("{number} from {min} to {max}{}", spaced(unit))
            }
            Self::Numbers { count, min, max, integer, unit } => {
                let numbers = if integer { "whole numbers" } else { "numbers" };
                format!("{count} {numbers} from {min} to {max}{}", spaced(unit))
            }
            Self::Client => "the name of a client".to_owned(),
            Self::Direction => "\"to-atom\" or \"from-atom\"".to_owned(),
        }
    }
}

fn spaced(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// One parameter of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// It must be given.
    pub required: bool,
    /// Its value when it is not given.
    pub default: Option<f64>,
}

/// How long a fault without duration lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// It is an event: its end does nothing.
    Event,
    /// Until it is cleared.
    UntilCleared,
    /// This long (µs).
    Micros(u64),
}

/// One fault of the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name: group, full stop, fault.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// What clients see of it.
    pub shows: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How long it lasts without a duration.
    pub lasting: Lasting,
    /// Makes it; `None` when a parameter that has no default is missing.
    pub build: fn(&Arguments) -> Option<FaultKind>,
}

pub(super) const fn number(name: &'static str, min: f64, max: f64, unit: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Number { min, max, integer: false, unit },
        required: true,
        default: None,
    }
}

pub(super) const fn whole(name: &'static str, min: f64, max: f64, unit: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Number { min, max, integer: true, unit },
        required: true,
        default: None,
    }
}

pub(super) const fn numbers(name: &'static str, count: usize, limit: f64, unit: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Numbers { count, min: -limit, max: limit, integer: false, unit },
        required: true,
        default: None,
    }
}

/// The parameter, with a value for when it is not given.
pub(super) const fn or(parameter: Parameter, default: f64) -> Parameter {
    Parameter { required: false, default: Some(default), ..parameter }
}

/// The parameter, which may be left out.
pub(super) const fn maybe(parameter: Parameter) -> Parameter {
    Parameter { required: false, ..parameter }
}

macro_rules! entry {
    ($name:literal, $lasting:expr, [$($parameter:expr),*], $build:expr, $what:literal, $shows:literal) => {
        Entry {
            name: $name,
            what: $what,
            shows: $shows,
            parameters: &[$($parameter),*],
            lasting: $lasting,
            build: $build,
        }
    };
}

pub(super) use entry;
