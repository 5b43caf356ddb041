//! A fault in a scenario file: the name, the scope, and whatever parameters that fault takes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use toml::Spanned;

use crate::atom::fault::{Value, catalogue};

/// A fault as written.
#[derive(Debug, Clone, Default)]
pub struct FaultEntry {
    /// Its name, and where that stands.
    pub name: (String, Range<usize>),
    /// Start (s).
    pub at_s: f64,
    /// Duration (s).
    pub for_s: Option<f64>,
    /// Period (s).
    pub every_s: Option<f64>,
    /// Probability of each start.
    pub probability: Option<f64>,
    /// Its parameters, and where they stand.
    pub parameters: BTreeMap<String, (Value, Range<usize>)>,
}

/// Keys that every fault has.
const SCOPE_KEYS: [&str; 5] = ["name", "at_s", "for_s", "every_s", "probability"];

impl<'de> Deserialize<'de> for FaultEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = FaultEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault: name, at_s, for_s, every_s, probability and its parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FaultEntry, A::Error> {
        let mut entry = FaultEntry::default();
        let mut named = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => {
                    let name: Spanned<String> = map.next_value()?;
                    entry.name = (name.get_ref().clone(), name.span());
                    named = true;
                }
                "at_s" => entry.at_s = map.next_value()?,
                "for_s" => entry.for_s = Some(map.next_value()?),
                "every_s" => entry.every_s = Some(map.next_value()?),
                "probability" => entry.probability = Some(map.next_value()?),
                _ => {
                    let value: Spanned<Written> = map.next_value()?;
                    let span = value.span();
                    entry.parameters.insert(key, (value.into_inner().0, span));
                }
            }
        }
        if named { Ok(entry) } else { Err(A::Error::missing_field("name")) }
    }
}

/// A parameter's value: a number, a text or a list of numbers.
struct Written(Value);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor).map(Self)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or a list of numbers")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(Value::Numbers(numbers))
    }
}

impl JsonSchema for FaultEntry {
    fn schema_name() -> Cow<'static, str> {
        "FaultEntry".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = catalogue::all().map(|entry| entry.name).collect();
        json_schema!({
            "type": "object",
            "description": "A fault: its name, its scope, and the parameters that docs/faults.md lists for it.",
            "properties": {
                "name": { "type": "string", "enum": names, "description": "Name of the fault." },
                "at_s": { "type": "number", "minimum": 0, "description": "It starts at this time (s)." },
                "for_s": { "type": "number", "minimum": 0, "description": "It lasts this long (s)." },
                "every_s": { "type": "number", "exclusiveMinimum": 0, "description": "It starts again with this period (s)." },
                "probability": { "type": "number", "minimum": 0, "maximum": 1, "description": "Probability of each start." },
            },
            "required": ["name"],
            "additionalProperties": { "type": ["number", "string", "array"] },
        })
    }
}

/// Keys of a fault entry that are not parameters.
pub fn is_scope_key(key: &str) -> bool {
    SCOPE_KEYS.contains(&key)
}
