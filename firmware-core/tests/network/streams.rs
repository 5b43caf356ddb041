//! Subscriptions: what STREAM shows, to whom, and when.

use firmware_core::platform::{ClientId, ImuSample, Transport};
use firmware_core::protocol::{ApiLevel, Reply, stream::Stream};
use firmware_core::shared::State;

use crate::side::*;

fn streams(sent: &[(ClientId, Vec<u8>)]) -> Vec<(ClientId, Stream)> {
    let decode = |(to, bytes): &(ClientId, Vec<u8>)| match Reply::decode(bytes) {
        Ok(Reply::Stream(stream)) => Some((*to, stream)),
        _other => None,
    };
    sent.iter().filter_map(decode).collect()
}

/// The control side has just read the joints.
fn read(side: &mut Side) {
    let now_us = side.now_us;
    side.show(|view| view.read_at_us = now_us);
}

#[test]
fn a_subscription_sends_one_packet_per_period_from_the_first_fresh_read_on() {
    let mut side = Side::new();
    side.silent(UDP, &[0x0C, 50, 0, 7, 7]);
    assert_eq!(side.shared.borrow().idle_read_hz, 50);
    assert!(side.shared.borrow().doorbell);
    assert_eq!(side.tick_ms(3), []);
    read(&mut side);
    let begun_ms = side.now_us / 1_000 + 1;
    let sent = streams(&side.tick_ms(200));
    let times: Vec<u64> = sent.iter().map(|(_, stream)| u64::from(stream.t_ms)).collect();
    assert_eq!(times, (0..10).map(|k| begun_ms + 20 * k).collect::<Vec<_>>());
    assert!(sent.iter().all(|(to, _)| *to == UDP));
}

#[test]
fn the_packet_shows_the_view_the_imu_and_who_has_control() {
    let mut side = Side::with_gripper();
    side.port.imu = Some(ImuSample { acc: [1, 2, 3], gyro: [-4, -5, -6] });
    side.show(|view| {
        view.joints.ok = true;
        view.joints.position = [1, 2, 3, 4, 5, 6, 7];
        view.joints.goal = [11, 12, 13, 14, 15, 16, 17];
        view.joints.temperature_c = [31, 32, 33, 34, 35, 36, 37];
        view.joints.voltage_dv = [71; 7];
        view.joints.status[6] = 32;
    });
    side.acked(WEB, &[0x0D], 0);
    for client in [UDP, WEB] {
        side.silent(client, &[0x0C, 10, 0]);
    }
    let sent = streams(&side.tick_ms(20));
    assert_eq!(sent.len(), 2);
    let (udp, web) = (sent[0].1, sent[1].1);
    assert_eq!((udp.control, web.control), (2, 1));
    assert_eq!((udp.state, udp.seen.n, udp.seen.joints.ok), (1, 7, true));
    assert_eq!(udp.seen.joints.position, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(udp.seen.joints.goal, [11, 12, 13, 14, 15, 16, 17]);
    assert_eq!(udp.seen.joints.temperature_c, [31, 32, 33, 34, 35, 36, 37]);
    assert_eq!((udp.seen.joints.voltage_dv, udp.seen.joints.status[6]), ([71; 7], 32));
    assert_eq!(udp.seen.imu, ImuSample { acc: [1, 2, 3], gyro: [-4, -5, -6] });
    side.acked(WEB, &[0x0D, 0], 0);
    let control: Vec<u8> = streams(&side.tick_ms(100)).iter().map(|(_, stream)| stream.control).collect();
    assert_eq!(control, [0, 0]);
}

#[test]
fn ready_is_shown_while_holding_with_a_valid_plan() {
    let mut side = Side::new();
    side.upload(UDP);
    side.silent(WEB, &[0x0C, 100, 0]);
    assert_eq!(streams(&side.tick_ms(20))[0].1.state, State::Ready as u8);
    side.state(State::Error);
    assert_eq!(streams(&side.tick_ms(10))[0].1.state, State::Error as u8);
}

#[test]
fn before_the_first_read_all_is_zero_and_not_ok() {
    let mut side = Side::booting();
    side.silent(UDP, &[0x0C, 100, 0]);
    let sent = side.tick_ms(20);
    assert_eq!(sent.len(), 1);
    let bytes = &sent[0].1;
    assert_eq!(bytes.len(), 87);
    assert_eq!(bytes[5..9], [0, 0, 0, 6]);
    assert!(bytes[9..].iter().all(|byte| *byte == 0));
}

#[test]
fn rate_0_ends_it_and_more_than_100_hz_counts_as_100() {
    let mut side = Side::new();
    side.silent(UDP, &[0x0C, 0xFF, 0xFF]);
    assert_eq!(side.network.subscribed_hz(UDP), Some(100));
    assert_eq!(side.shared.borrow().idle_read_hz, 100);
    side.silent(UDP, &[0x0C, 0, 0]);
    assert_eq!(side.network.subscribed_hz(UDP), None);
    assert_eq!(side.shared.borrow().idle_read_hz, 0);
    side.silent(UDP, &[0x0C]);
    side.silent(UDP, &[0x0C, 50]);
    assert_eq!(side.network.subscribers(), 0);
}

#[test]
fn a_subscription_lasts_2_s_unless_renewed() {
    let mut side = Side::new();
    side.silent(UDP, &[0x0C, 100, 0]);
    side.tick_ms(1_500);
    side.silent(UDP, &[0x0C, 100, 0]);
    assert_eq!(streams(&side.tick_ms(1_999)).len(), 199);
    assert_eq!(side.network.subscribers(), 1);
    side.tick_ms(1);
    assert_eq!(side.network.subscribers(), 0);
    assert_eq!(side.shared.borrow().idle_read_hz, 0);
    assert_eq!(streams(&side.tick_ms(500)), []);
}

#[test]
fn one_subscriber_too_many_is_ignored_until_there_is_room() {
    let mut side = Side::new();
    let client = |number| ClientId { transport: Transport::Udp, number };
    for number in 10..14 {
        side.silent(client(number), &[0x0C, 20 + number as u8, 0]);
    }
    assert_eq!(side.shared.borrow().idle_read_hz, 33, "the highest rate");
    side.silent(client(14), &[0x0C, 100, 0]);
    assert_eq!(side.network.subscribed_hz(client(14)), None);
    assert_eq!(side.network.subscribers(), 4);
    side.silent(client(13), &[0x0C, 0, 0]);
    side.silent(client(14), &[0x0C, 100, 0]);
    assert_eq!(side.network.subscribed_hz(client(14)), Some(100));
}

#[test]
fn a_fresh_read_is_one_made_after_the_subscription() {
    let mut side = Side::new();
    read(&mut side);
    side.tick_ms(1);
    side.silent(UDP, &[0x0C, 10, 0]);
    let subscribed_ms = side.now_us / 1_000;
    let sent = streams(&side.tick_ms(60));
    assert_eq!(sent.len(), 1);
    assert_eq!(u64::from(sent[0].1.t_ms), subscribed_ms + 20, "no read came: after 20 ms");
}

#[test]
fn a_reading_shows_from_its_time_on() {
    let mut side = Side::new();
    side.silent(UDP, &[0x0C, 100, 0]);
    side.tick_ms(20);
    let later_us = side.now_us + 15_000;
    let mut view = *side.shared.borrow_mut().view.at(side.now_us);
    view.joints.position[0] = 4000;
    side.shared.borrow_mut().view.show_from(later_us, view);
    let positions: Vec<u16> =
        streams(&side.tick_ms(20)).iter().map(|(_, stream)| stream.seen.joints.position[0]).collect();
    assert_eq!(positions, [0, 4000]);
}

#[test]
fn api_level_4_6_shows_the_gripper_at_the_end() {
    let mut side = Side::at_level(ApiLevel::V4_6);
    side.show(|view| {
        view.n = 7;
        view.joints.position[6] = 1477 + 278;
        view.joints.load[6] = 0x4FA;
    });
    side.silent(UDP, &[0x0C, 100, 0]);
    let sent = side.tick_ms(20);
    assert_eq!(sent[0].1.len(), 79);
    assert_eq!(sent[0].1[74..], [1, 0xF4, 0x01, 0x06, 0xFF], "found, 50.0 %, −25.0 %");
    side.show(|view| view.n = 6);
    assert_eq!(side.tick_ms(10)[0].1[74..], [0; 5]);
}
