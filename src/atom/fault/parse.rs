//! A name and a table of parameters → a fault, or what is wrong with them.

use std::collections::BTreeMap;

use firmware_core::platform::ClientId;

use super::catalogue::find;
use super::entry::{Entry, Lasting, Parameter, ParameterKind};
use super::kind::{Fault, FaultKind, Scope};
use crate::link::Direction;

/// A parameter's value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::Numbers(_) => "a list of numbers",
        }
    }
}

/// Why a fault cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultError {
    /// No such fault.
    UnknownFault {
        /// The name given.
        name: String,
        /// The nearest name there is.
        nearest: &'static str,
    },
    /// The fault has no such parameter.
    UnknownParameter {
        /// The fault.
        fault: &'static str,
        /// The parameter given.
        parameter: String,
        /// The parameters it has.
        known: Vec<&'static str>,
    },
    /// A parameter without default is not given.
    Missing {
        /// The fault.
        fault: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it would be.
        expected: String,
    },
    /// A parameter is of the wrong kind or outside its range.
    Invalid {
        /// The fault.
        fault: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Of some parameters not exactly one is given.
    NotOneOf {
        /// The fault.
        fault: &'static str,
        /// The parameters.
        parameters: Vec<&'static str>,
    },
    /// A client of that name does not exist.
    UnknownClient {
        /// The fault.
        fault: &'static str,
        /// The name given.
        client: String,
    },
}

impl FaultError {
    /// The parameter that is wrong, when it is one that was given.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::UnknownFault { .. } | Self::Missing { .. } | Self::NotOneOf { .. } => None,
            Self::UnknownParameter { parameter, .. } => Some(parameter),
            Self::Invalid { parameter, .. } => Some(parameter),
            Self::UnknownClient { .. } => Some("client"),
        }
    }
}

impl std::fmt::Display for FaultError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownFault { name, nearest } => {
                write!(f, "unknown fault \"{name}\"; the nearest is \"{nearest}\"")
            }
            Self::UnknownParameter { fault, parameter, known } if known.is_empty() => {
                write!(f, "{fault} takes no parameters, found \"{parameter}\"")
            }
            Self::UnknownParameter { fault, parameter, known } => {
                write!(f, "{fault} has no parameter \"{parameter}\"; it takes {}", known.join(", "))
            }
            Self::Missing { fault, parameter, expected } => {
                write!(f, "{fault} needs {parameter} = {expected}")
            }
            Self::Invalid { fault, parameter, expected, found } => {
                write!(f, "{parameter} of {fault} must be {expected}, found {found}")
            }
            Self::NotOneOf { fault, parameters } => {
                write!(f, "{fault} needs exactly one of {}", parameters.join(" and "))
            }
            Self::UnknownClient { fault, client } => {
                write!(f, "{fault} names the client \"{client}\", which does not exist")
            }
        }
    }
}

impl std::error::Error for FaultError {}

/// The checked parameters of one fault: all that its entry lists, given or by default.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    numbers: BTreeMap<&'static str, f64>,
    lists: BTreeMap<&'static str, Vec<f64>>,
    client: Option<ClientId>,
    direction: Option<Direction>,
}

impl Arguments {
    /// A number; 0 when the entry does not list it.
    pub fn number(&self, name: &str) -> f64 {
        self.optional(name).unwrap_or_default()
    }

    /// A number that has no default.
    pub fn optional(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// A list of exactly `N` numbers; zeros when the entry does not list it.
    pub fn list<const N: usize>(&self, name: &str) -> [f64; N] {
        self.lists.get(name).and_then(|list| list.as_slice().try_into().ok()).unwrap_or([0.0; N])
    }

    /// Joint index from `joint`, which counts from 1.
    pub fn joint(&self) -> usize {
        (self.number("joint") as usize).saturating_sub(1)
    }

    /// The client, `None` = all.
    pub fn client(&self) -> Option<ClientId> {
        self.client
    }

    /// The direction, `None` = both.
    pub fn direction(&self) -> Option<Direction> {
        self.direction
    }
}

/// Makes a fault with its scope. Without a duration, an event ends as it starts, and a fault that has a duration
/// of its own gets that.
///
/// # Errors
/// As [`parse`].
pub fn make(
    name: &str,
    values: &BTreeMap<String, Value>,
    scope: Scope,
    client: &dyn Fn(&str) -> Option<ClientId>,
) -> Result<Fault, FaultError> {
    let kind = parse(name, values, client)?;
    let own_us = match find(name)?.lasting {
        Lasting::Event => Some(0),
        Lasting::UntilCleared => None,
        Lasting::Micros(us) => Some(us),
    };
    Ok(Fault { kind, scope: Scope { for_us: scope.for_us.or(own_us), ..scope } })
}

/// Makes what a fault does from its name and parameters. `client` finds the client of a name.
///
/// # Errors
/// The name or a parameter is unknown, missing or outside its range.
pub fn parse(
    name: &str,
    values: &BTreeMap<String, Value>,
    client: &dyn Fn(&str) -> Option<ClientId>,
) -> Result<FaultKind, FaultError> {
    let entry = find(name)?;
    if let Some(unknown) = values.keys().find(|key| !entry.parameters.iter().any(|p| p.name == key.as_str()))
    {
        let known = entry.parameters.iter().map(|p| p.name).collect();
        return Err(FaultError::UnknownParameter { fault: entry.name, parameter: unknown.clone(), known });
    }
    let mut arguments = Arguments::default();
    for parameter in entry.parameters {
        match values.get(parameter.name) {
            Some(value) => take(entry, parameter, value, client, &mut arguments)?,
            None => take_default(entry, parameter, &mut arguments)?,
        }
    }
    (entry.build)(&arguments).ok_or_else(|| {
        let either = |parameter: &&Parameter| !parameter.required && parameter.default.is_none();
        let parameters = entry.parameters.iter().filter(either).map(|p| p.name).collect();
        FaultError::NotOneOf { fault: entry.name, parameters }
    })
}

fn take_default(entry: &Entry, parameter: &Parameter, arguments: &mut Arguments) -> Result<(), FaultError> {
    if let Some(number) = parameter.default {
        arguments.numbers.insert(parameter.name, number);
        return Ok(());
    }
    if parameter.required {
        return Err(FaultError::Missing {
            fault: entry.name,
            parameter: parameter.name,
            expected: parameter.kind.expected(),
        });
    }
    Ok(())
}

fn take(
    entry: &Entry,
    parameter: &Parameter,
    value: &Value,
    client: &dyn Fn(&str) -> Option<ClientId>,
    arguments: &mut Arguments,
) -> Result<(), FaultError> {
    let invalid = |found: String| FaultError::Invalid {
        fault: entry.name,
        parameter: parameter.name,
        expected: parameter.kind.expected(),
        found,
    };
    match (parameter.kind, value) {
        (ParameterKind::Number { min, max, integer, .. }, Value::Number(number)) => {
            if !(min..=max).contains(number) || (integer && !is_whole(*number)) {
                return Err(invalid(number.to_string()));
            }
            arguments.numbers.insert(parameter.name, *number);
        }
        (ParameterKind::Numbers { count, min, max, integer, .. }, Value::Numbers(list)) => {
            if list.len() != count {
                return Err(invalid(format!("{} numbers", list.len())));
            }
            let right = |number: f64| (min..=max).contains(&number) && (!integer || is_whole(number));
            if let Some(bad) = list.iter().find(|number| !right(**number)) {
                return Err(invalid(bad.to_string()));
            }
            arguments.lists.insert(parameter.name, list.clone());
        }
        (ParameterKind::Client, Value::Text(name)) => {
            arguments.client = Some(
                client(name)
                    .ok_or_else(|| FaultError::UnknownClient { fault: entry.name, client: name.clone() })?,
            );
        }
        (ParameterKind::Direction, Value::Text(name)) => {
            arguments.direction = Some(match name.as_str() {
                "to-atom" => Direction::ToAtom,
                "from-atom" => Direction::FromAtom,
                other => return Err(invalid(format!("\"{other}\""))),
            });
        }
        (
            ParameterKind::Number { .. }
            | ParameterKind::Numbers { .. }
            | ParameterKind::Client
            | ParameterKind::Direction,
            other,
        ) => return Err(invalid(other.kind().to_owned())),
    }
    Ok(())
}

fn is_whole(number: f64) -> bool {
    (number - libm::floor(number)).abs() < f64::EPSILON
}
