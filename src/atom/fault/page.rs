//! The published page of faults, made from the table.

use std::fmt::Write as _;

use super::catalogue;
use super::entry::{Entry, Lasting, Parameter};

/// The published page: every fault with its parameters and what clients see of it.
pub fn page() -> String {
    let mut page = String::from(PAGE_HEAD);
    let mut group = "";
    for entry in catalogue::all() {
        let this = entry.name.split('.').next().unwrap_or_default();
        if this != group {
            group = this;
            let _ = write!(
                page,
                "\n## {group}\n\n| Fault | Parameters | Without a duration | What it does | What the protocol shows |\n| --- | --- | --- | --- | --- |\n"
            );
        }
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            entry.name,
            parameters_text(entry),
            lasting_text(entry.lasting),
            entry.what,
            entry.shows
        );
    }
    page
}

fn parameters_text(entry: &Entry) -> String {
    if entry.parameters.is_empty() {
        return "–".to_owned();
    }
    let one = |p: &Parameter| {
        let default = match (p.default, p.required) {
            (Some(default), _) => format!(", default {default}"),
            (None, false) => ", optional".to_owned(),
            (None, true) => String::new(),
        };
        format!("`{}`: {}{default}", p.name, p.kind.expected())
    };
    entry.parameters.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn lasting_text(lasting: Lasting) -> String {
    match lasting {
        Lasting::Event => "an event".to_owned(),
        Lasting::UntilCleared => "until cleared".to_owned(),
        Lasting::Micros(us) => format!("{} ms", us / 1_000),
    }
}

const PAGE_HEAD: &str = "# Faults

What can go wrong in the simulator, by name. The names are part of the interface: scenarios, the chaos runner
and the live commands use them.

A fault acts in the simulated hardware, link or processor itself: a bit error is a wrong byte on the wire, a hot
gripper is a register. Each has a scope: a start, a duration (`for_s`), a period (`every_s`, which makes it
intermittent) and a probability of each start (`probability`). It ends with its scope and never persists. Each
start and each end is an event with its virtual time. A name or parameter that is not in this table is an error.

Joints count from 1 (J1) to 7 (J7, the gripper). A Wi-Fi fault without `client` acts on all clients, without
`direction` (`\"to-atom\"`, `\"from-atom\"`) on both directions.
";
