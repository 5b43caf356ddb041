//! The table is complete, its page is current, and wrong input gets a message that helps.

use std::collections::BTreeMap;

use firmware_core::platform::{ClientId, Transport};

use super::*;
use crate::atom::fault::entry::{Parameter, ParameterKind};
use crate::atom::fault::kind::{Fault, FaultKind, GripperFault, ObjectSize, Scope, ServoFault, WifiFault};
use crate::atom::fault::page::page;
use crate::atom::fault::parse::{Value, parse};

const PAGE: ClientId = ClientId { transport: Transport::WebSocket, number: 3 };

fn page_only(name: &str) -> Option<ClientId> {
    (name == "page").then_some(PAGE)
}

fn make(name: &str, values: &[(&str, Value)]) -> Result<FaultKind, FaultError> {
    let values: BTreeMap<String, Value> = values.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    parse(name, &values, &page_only)
}

fn message(name: &str, values: &[(&str, Value)]) -> String {
    make(name, values).expect_err("it must be refused").to_string()
}

/// The lowest value each required parameter can have.
fn least(entry: &Entry) -> Vec<(&'static str, Value)> {
    let value = |p: &Parameter| match p.kind {
        ParameterKind::Number { min, .. } => Value::Number(min),
        ParameterKind::Numbers { count, max, .. } => Value::Numbers(vec![max; count]),
        ParameterKind::Client => Value::Text("page".into()),
        ParameterKind::Direction => Value::Text("to-atom".into()),
    };
    // An object has an angle or a width, not both.
    entry.parameters.iter().filter(|p| p.name != "width_mm").map(|p| (p.name, value(p))).collect()
}

#[test]
fn every_fault_of_the_table_can_be_made() {
    for entry in all() {
        assert!(make(entry.name, &least(entry)).is_ok(), "{}", entry.name);
    }
}

#[test]
fn in_words_every_fault_begins_with_its_name_and_names_joints_as_people_do() {
    for entry in all() {
        let words = make(entry.name, &least(entry)).expect("it can be made").to_string();
        let name: String = words.chars().take_while(|c| !" ,".contains(*c)).collect();
        assert_eq!(name, entry.name, "{words}");
        assert_eq!(words.contains(" J1"), entry.parameters.iter().any(|p| p.name == "joint"), "{words}");
    }
    let latency = make("wifi.latency", &[("client", Value::Text("page".into())), ("ms", Value::Number(1.5))]);
    let scope = Scope { after_us: 500_000, for_us: Some(2_000_000), every_us: None, probability: 0.5 };
    let fault = Fault { kind: latency.expect("it can be made"), scope };
    assert_eq!(
        fault.to_string(),
        "wifi.latency of 1.5 ms, websocket-3, after 0.5 s, for 2 s, with probability 0.5"
    );
}

#[test]
fn names_are_unique_and_parameters_have_room() {
    for (i, entry) in all().enumerate() {
        assert!(all().skip(i + 1).all(|other| other.name != entry.name), "{}", entry.name);
        for parameter in entry.parameters {
            if let (ParameterKind::Number { min, max, .. }, Some(default)) =
                (parameter.kind, parameter.default)
            {
                assert!(min < max && (min..=max).contains(&default), "{} {}", entry.name, parameter.name);
            }
        }
    }
}

#[test]
fn parameters_arrive_in_the_fault() {
    let joint = ("joint", Value::Number(2.0));
    assert_eq!(
        make("servo.encoder_offset", &[joint, ("offset_deg", Value::Number(-30.0))]),
        Ok(FaultKind::Servo { joint: 1, fault: ServoFault::EncoderOffset(-30.0) })
    );
    assert_eq!(
        make("wifi.latency", &[("client", Value::Text("page".into())), ("ms", Value::Number(1.5))]),
        Ok(FaultKind::Wifi { client: Some(PAGE), direction: None, fault: WifiFault::Latency(1_500) })
    );
    assert_eq!(
        make("gripper.object_in", &[("width_mm", Value::Number(20.0))]),
        Ok(FaultKind::Gripper(GripperFault::ObjectIn {
            size: ObjectSize::WidthMm(20.0),
            stiffness_percent_deg: 10.0
        }))
    );
}

#[test]
fn an_unknown_fault_gets_the_nearest_name() {
    assert_eq!(
        message("servo.slient", &[]),
        "unknown fault \"servo.slient\"; the nearest is \"servo.silent\""
    );
    assert_eq!(message("bit_error", &[]), "unknown fault \"bit_error\"; the nearest is \"bus.bit_errors\"");
    assert!(message("", &[]).starts_with("unknown fault \"\"; the nearest is \""));
}

#[test]
fn wrong_parameters_say_what_would_be_right() {
    assert_eq!(message("servo.silent", &[]), "servo.silent needs joint = a whole number from 1 to 7");
    let joint = |n| ("joint", Value::Number(n));
    for bad in [0.0, 8.0, 1.5, f64::NAN, f64::INFINITY] {
        let text = message("servo.silent", &[joint(bad)]);
        assert_eq!(text, format!("joint of servo.silent must be a whole number from 1 to 7, found {bad}"));
    }
    assert_eq!(
        message("servo.silent", &[joint(1.0), ("volume", Value::Number(0.0))]),
        "servo.silent has no parameter \"volume\"; it takes joint"
    );
    assert_eq!(
        message("button.press", &[("force", Value::Number(1.0))]),
        "button.press takes no parameters, found \"force\""
    );
    assert_eq!(
        message("client.flood", &[("client", Value::Text("pgae".into()))]),
        "client.flood names the client \"pgae\", which does not exist"
    );
    assert_eq!(
        message("wifi.stall", &[("direction", Value::Text("up".into()))]),
        "direction of wifi.stall must be \"to-atom\" or \"from-atom\", found \"up\""
    );
    let both = [("angle_deg", Value::Number(-9.0)), ("width_mm", Value::Number(9.0))];
    assert_eq!(message("gripper.object_in", &both), message("gripper.object_in", &[]));
    assert_eq!(
        message("gripper.object_in", &[]),
        "gripper.object_in needs exactly one of angle_deg and width_mm"
    );
}

#[test]
fn the_page_is_made_from_this_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/faults.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page()).expect("docs/faults.md can be written");
    }
    let published = std::fs::read_to_string(path).expect("docs/faults.md is there");
    assert!(published == page(), "docs/faults.md is old: run UPDATE_DOCS=1 cargo test the_page_is_made");
}
