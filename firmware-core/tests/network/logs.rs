//! The status log line and the LED matrix.

use firmware_core::led;
use firmware_core::platform::Health;
use firmware_core::protocol::ApiLevel;
use firmware_core::shared::State;

use crate::side::*;

#[test]
fn the_line_comes_once_a_second_with_every_key_in_order() {
    let mut side = Side::new();
    side.port.health = Health { ip: [192, 168, 1, 107], rssi_dbm: -61, heap_free: 157_952, wifi_drops: 3 };
    side.upload(UDP);
    side.show(|view| view.write_retries = 12);
    side.shared.borrow_mut().twist_us_max = 451;
    side.tick_ms(999);
    assert!(side.port.lines.is_empty());
    side.tick_ms(1);
    let expected = "atom-sim v5.1.0 (abc123, sim) ip=192.168.1.107 rssi=-61 state=2 plan=2@250Hz valid=1 imu=1 \
                    write_retries=12 heap=157952 up=11s wifi_drops=3 joints=6 twist_us=451";
    assert_eq!(side.port.lines, [expected]);
    side.tick_ms(5_000);
    assert_eq!(side.port.lines.len(), 6);
    assert!(
        side.port.lines[1].ends_with("twist_us=0"),
        "the longest of the last second: {}",
        side.port.lines[1]
    );
}

#[test]
fn flags_stand_at_the_end_while_they_apply() {
    let mut side = Side::with_gripper();
    side.port.imu = None;
    side.show(|view| {
        view.j7_derated = true;
        view.turn_unknown = true;
        view.state = State::Error;
    });
    side.tick_ms(1_000);
    let line = &side.port.lines[0];
    assert!(line.contains(" state=4 plan=0@250Hz valid=0 imu=0 "), "{line}");
    let end = " joints=7 twist_us=0 j7_derated TURN UNKNOWN: move J6 away from ±135° by hand, then HOLD";
    assert!(line.ends_with(end), "{line}");
}

#[test]
fn older_levels_report_their_version_and_have_no_twist_us() {
    for (level, version) in
        ApiLevel::ALL.into_iter().zip(["4.1.0", "4.2.0", "4.4.1", "4.6.1", "5.0.1", "5.1.0"])
    {
        let mut side = Side::at_level(level);
        side.tick_ms(1_000);
        let line = &side.port.lines[0];
        assert!(line.starts_with(&format!("atom-sim v{version} (abc123, sim) ")), "{line}");
        assert_eq!(line.contains("twist_us"), level == ApiLevel::V5_1, "{line}");
    }
}

#[test]
fn a_late_line_is_not_followed_by_a_burst() {
    let mut side = Side::new();
    side.now_us += 3_400_000;
    side.tick_ms(1);
    assert_eq!(side.port.lines.len(), 1);
    side.tick_ms(598);
    assert_eq!(side.port.lines.len(), 1);
    side.tick_ms(1);
    assert_eq!(side.port.lines.len(), 2);
}

#[test]
fn the_matrix_shows_the_state_at_once_and_progress_every_100_ms() {
    let mut side = Side::new();
    assert_eq!(*side.network.led_frame(), led::frame(State::Holding, 0));
    side.upload(UDP);
    side.tick_ms(1);
    assert_eq!(*side.network.led_frame(), led::frame(State::Ready, 0));
    side.state(State::Playing);
    side.tick_ms(1);
    assert_eq!(*side.network.led_frame(), led::frame(State::Playing, 0));
    side.show(|view| view.progress_permille = 500);
    side.tick_ms(99);
    assert_eq!(*side.network.led_frame(), led::frame(State::Playing, 0));
    side.tick_ms(1);
    assert_eq!(*side.network.led_frame(), led::frame(State::Playing, 500));
    side.state(State::Jogging);
    side.tick_ms(1);
    assert_eq!(*side.network.led_frame(), led::frame(State::Jogging, 0));
}
