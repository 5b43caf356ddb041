//! MCAP files: live, of a trace, of a recording, and cut off by a crash; read back by the format's own reader.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use crate::support::Bench;
use atom_sim::atom::fault::{Fault, FaultKind, PowerFault, Scope};
use atom_sim::atom::{Options, Output};
use atom_sim::recording::mcap::{Live, convert};
use atom_sim::recording::trace::{Reader as TraceReader, Verdict, Writer as TraceWriter, replay_kept};
use atom_sim::recording::{Keeper, Reader, Row, Writer};
use firmware_core::protocol::{build, codes};
use mcap::MessageStream;
use mcap::read::Options as ReadOptions;
use serde_json::Value;

/// Topic, time (ns) and content of every message.
fn messages(file: &[u8]) -> Vec<(String, u64, Value)> {
    let stream =
        MessageStream::new_with_options(file, ReadOptions::IgnoreEndMagic.into()).expect("a file begins");
    stream
        .map_while(Result::ok)
        .map(|message| {
            let content = serde_json::from_slice(&message.data).expect("JSON");
            (message.channel.topic.clone(), message.log_time, content)
        })
        .collect()
}

fn of_topic<'a>(all: &'a [(String, u64, Value)], topic: &str) -> Vec<&'a Value> {
    all.iter().filter(|(name, ..)| name == topic).map(|(.., content)| content).collect()
}

/// What a session is kept as.
struct Kept {
    mcap: Vec<u8>,
    trace: Vec<u8>,
}

/// An ATOM whose trace and MCAP file are kept as a server keeps them, with looks at the grid and at other times.
struct Session {
    bench: Bench,
    live: Live<Vec<u8>>,
    trace: TraceWriter<Vec<u8>>,
}

impl Session {
    fn new() -> Self {
        let mut bench = Bench::new(&Options::default());
        let live = Live::begin(Vec::new(), 100, &bench.atom).expect("memory");
        let trace = TraceWriter::begin(Vec::new(), &mut bench.atom).expect("memory");
        let mut session = Self { bench, live, trace };
        session.tell();
        session
    }

    fn tell(&mut self) {
        while let Some(entry) = self.bench.atom.poll_journal() {
            self.live.entry(&entry).expect("memory");
            self.trace.entry(&entry).expect("memory");
        }
        self.live.look(&self.bench.atom).expect("memory");
        while let Some(output) = self.bench.atom.poll_output() {
            self.live.output(&output).expect("memory");
            self.trace.output(&output).expect("memory");
        }
    }

    fn advance_ms(&mut self, ms: u64, step_us: u64) {
        let end_us = self.bench.atom.now_us() + ms * 1000;
        while self.bench.atom.now_us() < end_us {
            let step_end_us = (self.bench.atom.now_us() + step_us).min(end_us);
            while let Some(look_us) = self.live.next_look_us().filter(|look_us| *look_us <= step_end_us) {
                self.bench.atom.advance_to(look_us);
                self.tell();
            }
            self.bench.atom.advance_to(step_end_us);
            self.tell();
        }
    }

    fn finish(self) -> Kept {
        let end_us = self.bench.atom.now_us();
        Kept { mcap: self.live.finish().expect("memory"), trace: self.trace.finish(end_us).expect("memory") }
    }
}

/// A motion to J1 = 20°, a refusal, a fault with a power cycle.
fn session(step_us: u64) -> Session {
    let mut session = Session::new();
    let web = session.bench.web();
    session.bench.send(web, &build::subscribe(50));
    session.bench.send(web, &build::move_to(&[20.0, 0.0, -30.0, 0.0, 0.0, 0.0, -10.0], 0));
    session.tell();
    session.advance_ms(2_500, step_us);
    session.bench.send(web, &build::move_to(&[20.0, 0.0, -300.0, 0.0, 0.0, 0.0], 0));
    session.tell();
    session.advance_ms(333, step_us);
    let power = FaultKind::Power(PowerFault::CycleBoth);
    let scope = Scope { for_us: Some(200_000), ..Scope::NOW };
    session.bench.atom.inject(Fault { kind: power, scope }).expect("a fault of the table");
    session.advance_ms(3_000, step_us);
    session
}

#[test]
fn a_live_file_has_joints_tcp_imu_state_and_events_at_virtual_time() {
    let mut session = session(1_000);
    session.bench = Bench::new(&Options { boot: true, ..Options::default() });
    session.trace.reset(&mut session.bench.atom).expect("memory");
    session.live.reset(&mut session.bench.atom).expect("memory");
    session.tell();
    session.advance_ms(500, 1_000);
    let all = messages(&session.finish().mcap);
    let count = |topic: &str| of_topic(&all, topic).len();
    // 6.3 s at 100 Hz, one more where the ATOM is made anew.
    assert!((630..=636).contains(&count("/joints")), "{}", count("/joints"));
    for topic in ["/joint_states", "/joint_goals", "/tf", "/tcp"] {
        assert_eq!(count(topic), count("/joints"), "{topic}");
    }
    assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1), "the file's time never runs back");

    let joints = of_topic(&all, "/joints");
    let at =
        |k: usize, joint: usize, what: &str| joints[k]["joints"][joint][what].as_f64().expect("a number");
    assert!((at(240, 0, "measured_deg") - 20.0).abs() < 0.2, "{}", at(240, 0, "measured_deg"));
    assert!((at(240, 0, "goal_deg") - 20.0).abs() < 0.1 && (at(240, 6, "true_deg") + 10.0).abs() < 0.2);
    assert!(at(40, 0, "goal_deg") > at(40, 0, "measured_deg") + 0.5, "the arm lags behind its goal");
    let radians = of_topic(&all, "/joint_states")[240]["joints"][0]["position"].as_f64().expect("a number");
    assert!((radians.to_degrees() - at(240, 0, "measured_deg")).abs() < 1e-4);
    let acc = of_topic(&all, "/imu")[0]["acceleration_g"]["y"].as_f64().expect("a number");
    assert!((acc + 1.02).abs() < 0.05, "upright: {acc} g");

    let states: Vec<&str> =
        of_topic(&all, "/state").iter().filter_map(|state| state["state"].as_str()).collect();
    let mut changes = states.clone();
    changes.dedup();
    assert_eq!(changes, ["holding", "moving", "holding", "booting", "holding", "booting", "holding"]);
    let holder = of_topic(&all, "/state").iter().any(|state| state["control"] == "websocket-1");
    assert!(holder, "{states:?}");

    let log = of_topic(&all, "/log");
    let says = |level: u64, text: &str| {
        log.iter()
            .any(|line| line["level"] == level && line["message"].as_str().is_some_and(|said| said == text))
    };
    assert!(says(
        2,
        "websocket-1 → ATOM  MOVE_TO (20.00 0.00 -30.00 0.00 0.00 0.00 -10.00)° as fast as allowed"
    ));
    assert!(says(3, "websocket-1 ← ATOM  ACK MOVE_TO: refused: J3 outside its limits"));
    assert!(says(3, "fault 1 starts: power.cycle_both"));
    assert!(says(2, "a new ATOM: API 5.1, seed 0"));
    assert!(!log.iter().any(|line| line["message"].as_str().is_some_and(|said| said.contains("STREAM "))));
}

#[test]
fn the_files_time_goes_on_when_an_atom_is_made_anew_between_two_looks() {
    let mut session = session(7_300);
    let ping = session.bench.udp();
    // To a moment of the grid of 10 ms, and past it, with an answer there.
    let grid_us = session.bench.atom.now_us() / 10_000 * 10_000 + 10_000;
    session.bench.atom.advance_to(grid_us);
    session.tell();
    session.bench.send(ping, &build::plain(codes::PING));
    session.bench.atom.advance_to(grid_us + 6_000);
    session.tell();
    session.bench = Bench::new(&Options::default());
    session.trace.reset(&mut session.bench.atom).expect("memory");
    session.live.reset(&mut session.bench.atom).expect("memory");
    session.tell();
    session.advance_ms(100, 1_000);
    let all = messages(&session.finish().mcap);
    assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1), "the file's time runs back");
}

#[test]
fn the_file_has_the_same_bytes_whatever_the_steps_of_time_and_when_made_of_the_trace() {
    let (one, other) = (session(1_000).finish(), session(7_300).finish());
    assert!(one.mcap == other.mcap, "the steps of time show");
    let mut reader = TraceReader::new(Cursor::new(&one.trace), Path::new("t.jsonl")).expect("a trace");
    let mut file = Vec::new();
    let verdict = replay_kept(&mut reader, |atom| Live::begin(&mut file, 100, atom)).expect("it replays");
    assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    assert!(one.mcap == file, "live {} bytes, of the trace {}", one.mcap.len(), file.len());
}

#[test]
fn a_file_cut_off_anywhere_is_read_up_to_its_last_whole_chunk() {
    let file = session(1_000).finish().mcap;
    let whole = messages(&file);
    // Where chunks end, and how many messages there are up to there.
    let summary = mcap::Summary::read(&file).expect("a summary").expect("a whole file has one");
    let mut chunks: Vec<(usize, usize)> = Vec::new();
    let mut count = 0;
    for chunk in &summary.chunk_indexes {
        count += summary.stream_chunk(&file, chunk).expect("a chunk").count();
        chunks.push(((chunk.chunk_start_offset + chunk.chunk_length) as usize, count));
    }
    assert!(chunks.len() >= 20, "{} chunks", chunks.len());
    assert_eq!(count, whole.len());
    for cut in (200..file.len()).step_by(59_999).chain([file.len() - 1]) {
        let expected = chunks.iter().take_while(|(end, _)| *end <= cut).last().map_or(0, |(_, count)| *count);
        let found = messages(&file[..cut]);
        assert!(found.len() >= expected, "cut at {cut}: {} of {expected}", found.len());
        assert!(found == whole[..found.len()], "cut at {cut}");
    }
}

/// A crash leaves in the file what was written up to then: at most a second is missing.
#[test]
fn what_is_older_than_a_second_is_in_the_file_before_it_ends() {
    /// Counts what reaches a file through a buffer, as a server writes.
    #[derive(Debug, Clone, Default)]
    struct Disk(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("one thread").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let disk = Disk::default();
    let mut bench = Bench::new(&Options::default());
    let buffered = std::io::BufWriter::with_capacity(1 << 20, disk.clone());
    let mut live = Live::begin(buffered, 20, &bench.atom).expect("memory");
    bench.atom.keep_journal();
    for moment in 0..140 {
        bench.atom.advance_to(live.next_look_us().expect("a grid"));
        live.look(&bench.atom).expect("memory");
        if moment % 7 != 0 {
            continue;
        }
        let file = disk.0.lock().expect("one thread").clone();
        let latest_us = messages(&file).last().map_or(0, |(_, t_ns, _)| t_ns / 1000);
        // A second of the file's time, and a moment that still waits.
        let age_us = bench.atom.now_us() - latest_us;
        assert!(age_us <= 1_100_000 || moment < 22, "{age_us} µs are missing at moment {moment}");
    }
}

#[test]
fn a_recording_becomes_a_file_with_its_rows() {
    for n in [6, 7] {
        let mut writer = Writer::new(Vec::new(), n).expect("memory");
        for k in 0..50_u32 {
            let mut row = Row { t_s: f64::from(k) * 0.002, acc_g: [0.0, -1.0, 0.0], ..Row::default() };
            row.reference_deg[2] = -90.0;
            row.cmd_deg[2] = -91.0;
            row.position_deg[2] = -f64::from(k);
            writer.write(&row).expect("memory");
        }
        let csv = writer.finish().expect("memory");
        let of = || {
            let mut reader = Reader::new(csv.as_slice(), Path::new("r.csv")).expect("a header");
            let mut file = Vec::new();
            assert_eq!(convert(&mut reader, None, &mut file).expect("whole"), 50);
            file
        };
        let file = of();
        assert!(file == of(), "the same bytes again");
        let all = messages(&file);
        let joints = of_topic(&all, "/joints");
        assert_eq!((joints.len(), joints[0]["joints"].as_array().map(Vec::len)), (50, Some(n)));
        let j3 = &joints[49]["joints"][2];
        assert_eq!(
            (&j3["wanted_deg"], &j3["goal_deg"], &j3["measured_deg"]),
            (&(-90.0).into(), &(-91.0).into(), &(-49.0).into())
        );
        assert!(j3.get("true_deg").is_none(), "a recording does not know it");
        let tcp = of_topic(&all, "/tcp")[0]["pose"]["position"]["z"].as_f64().expect("a number");
        let expected_mm =
            atom_sim::kinematics::forward(&[0.0; 6], atom_sim::recording::mcap::moment::tcp_of(n))
                .position_mm[2];
        assert!((tcp * 1e3 - expected_mm).abs() < 0.002, "{tcp}");
        let mut per_topic = BTreeMap::new();
        for (topic, ..) in &all {
            *per_topic.entry(topic.as_str()).or_insert(0) += 1;
        }
        assert_eq!((per_topic["/imu"], per_topic["/state"], per_topic["/log"]), (50, 1, 2));
    }
}

#[test]
fn keeping_a_file_changes_no_output() {
    let plain = |with_file: bool| {
        let mut bench = Bench::new(&Options::default());
        let mut live = with_file.then(|| Live::begin(Vec::new(), 1000, &bench.atom).expect("memory"));
        bench.atom.keep_journal();
        let web = bench.web();
        bench.send(web, &build::subscribe(100));
        bench.send(web, &build::move_to(&[20.0, 0.0, -30.0, 0.0, 0.0, 0.0], 0));
        let mut outputs: Vec<Output> = Vec::new();
        for _ in 0..2_000 {
            bench.atom.advance_to(bench.atom.now_us() + 1_000);
            if let Some(live) = &mut live {
                live.look(&bench.atom).expect("memory");
            }
            outputs.extend(std::iter::from_fn(|| bench.atom.poll_output()));
        }
        outputs
    };
    let outputs = plain(false);
    assert!(
        outputs
            .iter()
            .any(|output| matches!(output, Output::Message { bytes, .. } if bytes[0] == codes::STREAM))
    );
    assert_eq!(outputs, plain(true));
}
