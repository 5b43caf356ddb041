//! Conditions on fabricated observations.

use firmware_core::protocol::reply::Done;

use super::*;
use crate::atom::{Atom, Options};
use crate::scenario::book::StepLog;

fn book() -> Book {
    let atom = Atom::new(&Options::default()).expect("the default ATOM");
    Book::new(atom.now_us(), atom.truth(), vec!["page".to_owned(), "lab".to_owned()])
}

fn condition(toml: &str) -> Condition {
    #[derive(serde::Deserialize)]
    struct That {
        that: Condition,
    }
    toml::from_str::<That>(toml).expect("a condition").that
}

fn check(toml: &str, book: &Book) -> (bool, String) {
    let (holds, seen) = look(&condition(toml), book);
    (holds, seen.to_string())
}

fn brief(t_us: u64, name: ReplyName, to: u8, status: i8, result: u8) -> Brief {
    Brief { t_us, name, to, status, value: 0, done: Done { result, ..Done::default() } }
}

#[test]
fn one_joint_or_the_first_of_all_that_is_out_of_bounds_is_seen() {
    let mut book = book();
    book.truth.angle_deg = [1.0, 2.0, 3.0, 40.0, 5.0, 60.0, -20.0];
    assert_eq!(
        check("that.angle_deg = { joint = 4, near = 39, by = 1 }", &book),
        (true, "J4: 40".to_owned())
    );
    assert_eq!(check("that.angle_deg = { max = 10 }", &book), (false, "J4: 40".to_owned()));
    assert!(check("that.angle_deg = { max = 60 }", &book).0);
}

#[test]
fn nothing_holds_for_a_number_that_is_none() {
    let mut book = book();
    book.truth.angle_deg[0] = f64::NAN;
    assert!(!check("that.angle_deg = { joint = 1, max = 10 }", &book).0);
}

#[test]
fn goal_speed_and_acceleration_come_from_windows_of_50_ms() {
    let mut book = book();
    let start_us = book.start_us;
    for i in 0..=100u64 {
        let t_s = i as f64 * 0.002;
        let mut truth = book.truth;
        truth.t_us = start_us + i * 2_000;
        truth.goal_deg[0] = 0.5 * 200.0 * t_s * t_s;
        book.look(truth);
    }
    // At 0.2 s: mean speed of the last 50 ms 200 · 0.175, acceleration 200 throughout.
    assert!(check("that.goal_speed_dps = { joint = 1, near = 35, by = 0.01 }", &book).0);
    assert!(check("that.goal_accel_dps2 = { joint = 1, near = 200, by = 0.1 }", &book).0);
}

#[test]
fn the_tcp_is_compared_with_a_pose_of_the_past() {
    let mut book = book();
    book.poses.insert(0, None);
    assert!(!check("that.tcp_turned_deg = { max = 1 }", &book).0, "the pose is not known yet");
    book.truth.goal_deg = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0];
    book.look(book.truth);
    let mut truth = book.truth;
    truth.t_us += 2_000;
    truth.goal_deg[0] = 10.0;
    book.look(truth);
    assert!(check("that.tcp_turned_deg = { near = 10, by = 0.001 }", &book).0);
    let (_, seen) = check("that.tcp_moved_mm = { max = 0 }", &book);
    let position_mm = pose(&book.truth.goal_deg, 7).position_mm;
    let radius_mm = 2.0 * f64::from(libm::hypotf(position_mm[0], position_mm[1]));
    let chord_mm = radius_mm * libm::sin(5.0_f64.to_radians());
    assert!((seen.parse::<f64>().expect("a number") - chord_mm).abs() < 0.01, "{seen} for {chord_mm}");
    assert!(check("that.tcp_off_line_mm = { direction = [0, 0, 1], min = 1 }", &book).0);
}

#[test]
fn replies_are_counted_by_what_they_say() {
    let mut book = book();
    book.clients[0].briefs = vec![
        brief(10_000, ReplyName::Ack, codes::JOG, -1, 0),
        brief(20_000, ReplyName::Ack, codes::JOG, -2, 0),
        brief(30_000, ReplyName::Done, 0, 0, 2),
    ];
    let count =
        |text: &str| check(&format!("that.replies = {{ client = \"page\", {text}, max = -1 }}"), &book).1;
    assert_eq!(count("reply = \"ack\""), "2");
    assert_eq!(count("reply = \"ack\", to = \"jog\", status = -2"), "1");
    assert_eq!(count("reply = \"ack\", to = \"track\""), "0");
    assert_eq!(count("reply = \"ack\", since_s = 0.015"), "1");
    assert_eq!(count("reply = \"done\", result = 2"), "1");
}

#[test]
fn an_order_allows_other_replies_between_and_no_other_order() {
    let mut book = book();
    book.clients[1].briefs = vec![
        brief(1, ReplyName::Ack, codes::MOVE_TO, 0, 0),
        brief(2, ReplyName::Pong, 0, 0, 0),
        brief(3, ReplyName::Done, 0, 0, 0),
    ];
    let order =
        |list: &str| check(&format!("that.order = {{ client = \"lab\", replies = [{list}] }}"), &book);
    assert!(order("{ reply = \"ack\", to = \"move_to\" }, { reply = \"done\", result = 0 }").0);
    let (holds, seen) = order("{ reply = \"done\" }, { reply = \"ack\" }");
    assert_eq!((holds, seen.as_str()), (false, "the first 1 of 2"));
}

#[test]
fn the_delay_of_a_reply_counts_from_its_step() {
    let mut book = book();
    let step = StepLog { client: 0, began_us: Some(5_000), code: codes::PING };
    book.steps.insert("ping".to_owned(), step);
    let delay = |book: &Book| check("that.reply_delay_ms = { step = \"ping\", near = 1.5, by = 0.01 }", book);
    assert_eq!(delay(&book), (false, "no reply".to_owned()));
    book.clients[0].briefs =
        vec![brief(4_000, ReplyName::Pong, 0, 0, 0), brief(6_500, ReplyName::Pong, 0, 0, 0)];
    assert_eq!(delay(&book), (true, "1.5".to_owned()));
}

#[test]
fn numbers_of_the_status_log_are_read_by_their_key() {
    let mut book = book();
    book.status_line = "atom-sim v5.1.0 (x, sim) rssi=-50dBm plan=0@250Hz wifi_drops=3 joints=7".to_owned();
    assert!(check("that.status = { key = \"wifi_drops\", near = 3 }", &book).0);
    assert!(check("that.status = { key = \"rssi\", near = -50 }", &book).0);
    assert!(!check("that.status = { key = \"drops\", min = 0 }", &book).0, "a key is a whole word");
    assert!(check("that.not.status_contains = \"TURN UNKNOWN\"", &book).0);
}

#[test]
fn telemetry_counts_samples_and_gaps_within_a_run() {
    use firmware_core::protocol::telemetry::{Sample, encode_packet};
    let mut book = book();
    let sample = Sample { n: 6, ..Sample::default() };
    for first in [0, 4, 4, 10] {
        book.clients[1].take(0, &encode_packet(first, 2, [sample; 2].into_iter()));
    }
    // 0 1, then 2 3 missing, 4 5 twice, then 6 to 9 missing, 10 11.
    assert!(check("that.telemetry = { client = \"lab\", field = \"missing\", near = 6 }", &book).0);
    assert!(check("that.telemetry = { client = \"lab\", field = \"samples\", near = 8 }", &book).0);
}

#[test]
fn conditions_combine() {
    let book = book();
    let (yes, no) = ("{ state = \"holding\" }", "{ state = \"error\" }");
    assert!(check(&format!("that.any = [{yes}, {no}]"), &book).0);
    assert!(!check(&format!("that.all = [{yes}, {no}]"), &book).0);
    assert!(check("that.not.state = \"error\"", &book).0);
    assert_eq!(check("that.holder = \"nobody\"", &book), (true, "nobody".to_owned()));
}
