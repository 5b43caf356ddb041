//! Traces of a whole ATOM: written, read, replayed to the byte, and stored ones that must still replay.

use std::io::Cursor;
use std::path::Path;

use crate::support::Bench;
use atom_sim::atom::fault::{Fault, FaultKind, PowerFault, Scope, WifiFault};
use atom_sim::atom::{JournalEntry, Options, Output};
use atom_sim::link::Profile;
use atom_sim::recording::trace::{Line, Reader, TraceError, Verdict, Writer, replay, words};
use firmware_core::protocol::{build, codes};

/// Takes what happened since the last call into the trace, as a server does.
fn drain(bench: &mut Bench, writer: &mut Writer<Vec<u8>>) {
    while let Some(entry) = bench.atom.poll_journal() {
        writer.entry(&entry).expect("memory");
    }
    while let Some(output) = bench.atom.poll_output() {
        writer.output(&output).expect("memory");
    }
}

/// A session with everything: two transports, streams, motion, garbage, faults, a power cycle, a reset.
fn session() -> Vec<u8> {
    let mut bench = Bench::new(&Options::default());
    let mut writer = Writer::begin(Vec::new(), &mut bench.atom).expect("memory");
    let (udp, web) = (bench.udp(), bench.web());
    bench.atom.set_wifi(udp, Profile::Hotspot);
    let advance = |bench: &mut Bench, writer: &mut Writer<Vec<u8>>, ms: u64| {
        bench.atom.advance_to(bench.atom.now_us() + ms * 1000 + 137);
        drain(bench, writer);
    };
    bench.send(udp, &build::subscribe(50));
    bench.send(web, &build::move_to(&[20.0, 0.0, -30.0, 0.0, 0.0, 0.0], 0));
    advance(&mut bench, &mut writer, 700);
    bench.send(udp, &[0xFF, 1, 2, 3]);
    bench.send(udp, &build::plain(codes::STOP));
    let wifi = FaultKind::Wifi { client: Some(udp), direction: None, fault: WifiFault::Loss(0.3) };
    let scope = Scope { after_us: 100_000, every_us: Some(300_000), for_us: Some(123_456), probability: 0.7 };
    let id = bench.atom.inject(Fault { kind: wifi, scope }).expect("a fault of the table");
    advance(&mut bench, &mut writer, 1_000);
    bench.atom.clear_fault(id);
    let power = FaultKind::Power(PowerFault::CycleBoth);
    let scope = Scope { for_us: Some(200_000), ..Scope::NOW };
    bench.atom.inject(Fault { kind: power, scope }).expect("a fault of the table");
    advance(&mut bench, &mut writer, 3_000);
    bench.atom.close(udp);
    advance(&mut bench, &mut writer, 10);
    bench = Bench::new(&Options { boot: true, ..Options::default() });
    writer.reset(&mut bench.atom).expect("memory");
    let again = bench.udp();
    bench.send(again, &build::plain(codes::PING));
    advance(&mut bench, &mut writer, 1_500);
    writer.finish(bench.atom.now_us()).expect("memory")
}

fn replayed(trace: &[u8]) -> Verdict {
    let mut reader = Reader::new(Cursor::new(trace), Path::new("trace.jsonl")).expect("a trace");
    replay(&mut reader).expect("it can be replayed")
}

#[test]
fn a_replay_gives_every_output_again_to_the_byte() {
    let Verdict::Same { inputs, outputs, virtual_us } = replayed(&session()) else {
        panic!("{:?}", replayed(&session()))
    };
    assert_eq!(inputs, 13);
    assert!(outputs > 60, "{outputs}");
    assert!((6_000_000..7_000_000).contains(&virtual_us), "{virtual_us}");
}

#[test]
fn a_changed_byte_is_the_first_difference() {
    let text = String::from_utf8(session()).expect("UTF-8");
    let number = text.lines().position(|line| line.contains(r#""what":"sent""#)).expect("an output") + 1;
    let line = text.lines().nth(number - 1).expect("the line");
    let changed = text.replacen(line, &line.replacen(r#""bytes":"8"#, r#""bytes":"9"#, 1), 1);
    let Verdict::Different(difference) = replayed(changed.as_bytes()) else { panic!("it was changed") };
    assert_eq!(difference.line, number);
    let (Some(Line::Sent { bytes: expected, .. }), Some(Line::Sent { bytes: found, .. })) =
        (&difference.expected, &difference.found)
    else {
        panic!("{difference:?}")
    };
    assert_eq!(expected[0], found[0] + 0x10);
    assert_eq!(expected[1..], found[1..]);
}

#[test]
fn an_output_that_is_missing_or_too_many_is_a_difference() {
    let text = String::from_utf8(session()).expect("UTF-8");
    let mut without: Vec<&str> = text.lines().collect();
    let last = without.iter().rposition(|line| line.contains(r#""what":"sent""#)).expect("an output");
    without.remove(last);
    assert!(matches!(replayed((without.join("\n") + "\n").as_bytes()), Verdict::Different(_)));
}

#[test]
fn a_trace_cut_off_by_a_crash_replays_up_to_its_last_whole_line() {
    let trace = session();
    for cut in [trace.len() / 2, trace.len() - 3, trace.len() - 200] {
        assert!(matches!(replayed(&trace[..cut]), Verdict::Same { .. }), "cut at {cut}");
    }
}

#[test]
fn a_newer_trace_is_refused_politely_and_a_broken_line_by_its_number() {
    let read = |text: &str| Reader::new(Cursor::new(text.to_owned()), Path::new("t.jsonl"));
    let newer = r#"{"atom_sim_trace":2,"version":"9.1.0","future":true}"#;
    let message = read(newer).expect_err("newer").to_string();
    assert_eq!(
        message,
        "t.jsonl: the trace has format 2, written by atom-sim 9.1.0; this program reads up to 1. Read it with \
         atom-sim 9.1.0 or newer"
    );
    assert!(matches!(read("t,q_1\n1,2\n"), Err(TraceError::NoTrace { .. })));
    let trace = String::from_utf8(session()).expect("UTF-8");
    let broken = trace.replacen(r#"{"what":"received""#, r#"{"what":"receeved""#, 1);
    let mut reader = read(&broken).expect("its header is whole");
    let error = loop {
        match reader.read() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the broken line was passed over"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("t.jsonl:5: expected a line of a trace: unknown variant"), "{error}");
}

/// A trace of an idle second, and what replaying it says after `change` changed its text.
fn replay_of_changed(change: impl FnOnce(&str) -> String) -> Result<Verdict, String> {
    let mut bench = Bench::new(&Options::default());
    let mut writer = Writer::begin(Vec::new(), &mut bench.atom).expect("memory");
    let udp = bench.udp();
    bench.send(udp, &build::plain(codes::PING));
    bench.atom.advance_to(bench.atom.now_us() + 1_500_000);
    drain(&mut bench, &mut writer);
    let trace = writer.finish(bench.atom.now_us()).expect("memory");
    let changed = change(&String::from_utf8(trace).expect("ASCII"));
    let mut reader = Reader::new(Cursor::new(changed.as_bytes()), Path::new("trace.jsonl"))
        .map_err(|error| error.to_string())?;
    replay(&mut reader).map_err(|error| error.to_string())
}

#[test]
fn a_trace_with_impossible_numbers_is_refused_before_it_takes_memory() {
    let refusal = |from: &str, to: &str| {
        replay_of_changed(|text| {
            assert!(text.contains(from), "{text}");
            text.replace(from, to)
        })
        .expect_err("an impossible trace")
    };
    let subscribers = refusal("\"max_subscribers\":8", "\"max_subscribers\":18446744073709551615");
    assert!(
        subscribers.contains("a number of subscribers") && subscribers.contains("1 to 256"),
        "{subscribers}"
    );
    let plan = refusal("\"plan_bytes_max\":120024", "\"plan_bytes_max\":120024000000");
    assert!(plan.contains("a plan memory"), "{plan}");
    let format = refusal("\"atom_sim_trace\":1", "\"atom_sim_trace\":0");
    assert!(format.contains("expected a format from 1 on, found 0"), "{format}");
}

#[test]
fn lines_out_of_order_are_refused_by_their_number() {
    assert!(matches!(replay_of_changed(str::to_owned), Ok(Verdict::Same { .. })));
    let behind = replay_of_changed(|text| format!("{text}{}\n", text.lines().nth(1).expect("a line")));
    assert!(behind.expect_err("a line behind the end").contains("expected nothing behind the end"));
    let back = replay_of_changed(|text| {
        let mut lines: Vec<&str> = text.lines().collect();
        let ping = lines.iter().position(|line| line.contains("received")).expect("the PING");
        // Once more, later, with its old time.
        lines.insert(lines.len() - 1, lines[ping]);
        let connect = lines[1].replace("udp-1", "udp-2").replace("\"t_us\":", "\"t_us\":1");
        lines.insert(ping, &connect);
        lines.join("\n") + "\n"
    });
    let back = back.expect_err("time goes back");
    assert!(back.starts_with("trace.jsonl:4: ") && back.contains("expected a time from"), "{back}");
}

#[test]
fn an_end_that_no_output_reaches_is_a_difference_at_once() {
    let verdict = replay_of_changed(|text| {
        let end = text.lines().last().expect("the end");
        text.replace(end, r#"{"what":"end","t_us":10000000000000}"#)
    });
    // A status line that the trace lacks, long before.
    let Ok(Verdict::Different(difference)) = verdict else { panic!("{verdict:?}") };
    assert!(matches!(difference.expected, Some(Line::End { .. })), "{difference:?}");
    assert!(matches!(difference.found, Some(Line::StatusLine { .. })), "{difference:?}");
}

#[test]
fn a_trace_in_words_names_clients_messages_and_times() {
    let trace = session();
    let mut reader = Reader::new(Cursor::new(&trace[..]), Path::new("t.jsonl")).expect("a trace");
    let level = reader.header().options.level;
    let mut text = words::header(reader.header());
    while let Some(line) = reader.read().expect("whole") {
        text += "\n";
        text += &words::line(&line, level);
    }
    for wanted in [
        "udp-1 connects",
        "udp-1 gets the WiFi `hotspot`",
        "websocket-2 → ATOM  MOVE_TO (20.00 0.00 -30.00 0.00 0.00 0.00)° as fast as allowed",
        "websocket-2 ← ATOM  ACK MOVE_TO: done",
        "udp-1 → ATOM  STOP",
        "fault 2 starts: power.cycle_both",
        "ATOM closes the WebSocket of websocket-2",
        "a new ATOM: API 5.1, seed 0",
        "end of the trace",
    ] {
        assert!(text.contains(wanted), "`{wanted}` is missing in\n{text}");
    }
}

#[test]
fn a_journal_is_kept_only_when_asked_for() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    assert_eq!(bench.atom.poll_journal(), None);
    bench.atom.keep_journal();
    bench.send(client, &[1]);
    assert!(matches!(bench.atom.poll_journal(), Some(JournalEntry::Input(..))));
    assert_eq!(bench.atom.poll_journal(), None);
    assert!(matches!(bench.run_ms(2)[..], [Output::Message { .. }]));
}

/// Fails when today's simulator does something else than that of the day the trace was stored. If that is meant,
/// store it anew: `BLESS=1 cargo test --test atom traces`.
#[test]
fn the_stored_trace_replays_to_the_byte() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session.jsonl");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, session()).expect("the stored trace can be written");
    }
    let trace = std::fs::read(&path).expect("the stored trace is there");
    if let Verdict::Different(difference) = replayed(&trace) {
        panic!("{}:{}: {difference:?}", path.display(), difference.line);
    }
}
