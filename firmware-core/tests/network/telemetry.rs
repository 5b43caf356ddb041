//! TELEM: how samples become packets, and DONE after the last of them.

use std::cell::RefCell;

use firmware_core::platform::{ClientId, Health, ImuSample, NetworkPort};
use firmware_core::protocol::reply::Done;
use firmware_core::protocol::telemetry::{Packet, Sample};
use firmware_core::protocol::{Reply, build, codes};
use firmware_core::shared::Shared;
use firmware_core::telemetry_ring::TelemetrySample;

use crate::side::*;

fn sample(at_us: u64, client: ClientId, n: u8) -> TelemetrySample {
    let sample = Sample {
        n: usize::from(n),
        t_us: at_us as u32,
        cmd: [1, 2, 3, 4, 5, 6, 7],
        reference: [11; 7],
        position: [21; 7],
        speed: [31; 7],
        load: [41; 7],
        imu: ImuSample { acc: [-1; 3], gyro: [-2; 3] },
        ok: true,
    };
    TelemetrySample { at_us, client, sent: true, sample }
}

fn packets(sent: &[(ClientId, Vec<u8>)]) -> Vec<Packet> {
    let decode = |(_, bytes): &(ClientId, Vec<u8>)| match Reply::decode(bytes) {
        Ok(Reply::Telemetry(packet)) => Some(packet),
        _other => None,
    };
    sent.iter().filter_map(decode).collect()
}

fn sizes(sent: &[(ClientId, Vec<u8>)]) -> Vec<(u32, usize)> {
    packets(sent).iter().map(|packet| (packet.first_sequence, packet.samples.len())).collect()
}

#[test]
fn a_packet_goes_out_when_it_is_full_at_500_hz() {
    for (n, capacity) in [(6_u8, 18_usize), (7, 16)] {
        let mut side = Side::new();
        let begun_us = side.now_us;
        for k in 0..100 {
            side.push_telemetry(sample(begun_us + 500 + 2_000 * k, UDP, n));
        }
        // The last sample of the first packet is made 500 µs after a tick.
        let full_ms = 2 * (capacity as u64 - 1) + 1;
        assert_eq!(sizes(&side.tick_ms(full_ms - 1)), []);
        assert_eq!(sizes(&side.tick_ms(1)), [(0, capacity)]);
        let sent = side.tick_ms(240);
        let all = packets(&sent);
        assert_eq!(all[0].first_sequence as usize, capacity);
        assert_eq!(all[0].samples.len(), capacity);
        assert!(
            all.windows(2).all(|p| p[1].first_sequence == p[0].first_sequence + p[0].samples.len() as u32)
        );
        assert_eq!(capacity + all.iter().map(|packet| packet.samples.len()).sum::<usize>(), 100);
        assert!(sent.iter().all(|(to, bytes)| *to == UDP && bytes.len() <= 1472));
    }
}

#[test]
fn a_packet_goes_out_when_its_first_sample_is_40_ms_old() {
    let mut side = Side::new();
    let begun_us = side.now_us;
    for k in 0..3 {
        side.push_telemetry(sample(begun_us + 10_000 * k, UDP, 6));
    }
    assert_eq!(sizes(&side.tick_ms(39)), []);
    assert_eq!(sizes(&side.tick_ms(1)), [(0, 3)]);
    // A sample that is not visible yet neither joins nor hurries a packet.
    side.push_telemetry(sample(side.now_us, UDP, 6));
    side.push_telemetry(sample(side.now_us + 60_000, UDP, 6));
    assert_eq!(sizes(&side.tick_ms(39)), []);
    assert_eq!(sizes(&side.tick_ms(1)), [(3, 1)]);
    assert_eq!(sizes(&side.tick_ms(60)), [(4, 1)]);
}

#[test]
fn the_fields_of_a_sample_are_those_of_the_ring() {
    let mut side = Side::new();
    let made = sample(side.now_us, UDP, 7);
    side.push_telemetry(made);
    let sent = packets(&side.tick_ms(40));
    assert_eq!(sent[0].samples[0], made.sample);
}

#[test]
fn done_follows_the_last_telemetry_of_its_run() {
    let mut side = Side::new();
    let begun_us = side.now_us;
    for k in 0..20 {
        side.push_telemetry(sample(begun_us + 2_000 * k, UDP, 6));
    }
    side.post(begun_us + 38_500, UDP, &Done { cycles: 20, ..Done::default() }, true);
    let sent = side.tick_ms(39);
    let codes: Vec<u8> = sent.iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(codes, [codes::TELEM, codes::TELEM, codes::DONE]);
    assert_eq!(sizes(&sent), [(0, 18), (18, 2)]);
    assert!(side.shared.borrow().telemetry.is_empty());
}

#[test]
fn samples_that_are_not_sent_only_count() {
    let mut side = Side::new();
    for k in 0..5 {
        side.push_telemetry(TelemetrySample { sent: false, ..sample(side.now_us + 1_000 * k, WEB, 6) });
    }
    side.post(side.now_us + 6_000, WEB, &Done::default(), true);
    let sent = side.tick_ms(6);
    assert_eq!(sent.iter().map(|(to, bytes)| (*to, bytes[0])).collect::<Vec<_>>(), [(WEB, codes::DONE)]);
    side.push_telemetry(sample(side.now_us, UDP, 6));
    assert_eq!(sizes(&side.tick_ms(40)), [(5, 1)], "the next run's numbers go on from them");
}

#[test]
fn samples_of_two_runs_never_share_a_packet() {
    let mut side = Side::new();
    for k in 0..3 {
        side.push_telemetry(sample(side.now_us + k, UDP, 6));
    }
    for k in 3..6 {
        side.push_telemetry(sample(side.now_us + k, WEB, 7));
    }
    let sent = side.tick_ms(1);
    assert_eq!(sizes(&sent), [(0, 3)], "no more of the first run will come");
    assert_eq!(sent[0].0, UDP);
    let sent = side.tick_ms(40);
    assert_eq!((sizes(&sent), sent[0].0), (vec![(3, 3)], WEB));
}

#[test]
fn a_full_ring_drops_samples_which_take_no_number() {
    let mut side = Side::new();
    let mut dropped = 0;
    for _ in 0..600 {
        dropped += u32::from(!side.shared.borrow_mut().telemetry.push(&sample(side.now_us, UDP, 6)));
    }
    assert_eq!(dropped, 600 - 512);
    let all = packets(&side.tick_ms(40));
    assert_eq!(all.iter().map(|packet| packet.samples.len()).sum::<usize>(), 512);
    side.push_telemetry(sample(side.now_us, UDP, 6));
    assert_eq!(sizes(&side.tick_ms(40)), [(512, 1)], "no gap");
}

#[test]
fn replies_go_out_in_order_and_not_before_their_time() {
    let mut side = Side::new();
    let now_us = side.now_us;
    for (k, after_us) in [1_500, 1_500, 4_000].into_iter().enumerate() {
        side.post(now_us + after_us, UDP, &Done { cycles: k as u32, ..Done::default() }, false);
    }
    assert_eq!(side.tick_ms(1), []);
    let first: Vec<u8> = side.tick_ms(1).iter().map(|(_, bytes)| bytes[2]).collect();
    assert_eq!(first, [0, 1]);
    assert_eq!(side.tick_ms(1), []);
    assert_eq!(side.tick_ms(1)[0].1[2], 2);
}

/// A platform that looks whether the mailbox is free whenever something goes out: on the ATOM the control side waits
/// while it is not.
struct Watching<'a> {
    shared: &'a RefCell<Shared>,
    codes: Vec<u8>,
    lines: usize,
}

impl Watching<'_> {
    fn look(&self) {
        assert!(self.shared.try_borrow_mut().is_ok(), "something goes out of a mailbox that is in use");
    }
}

impl NetworkPort for Watching<'_> {
    fn send(&mut self, _to: ClientId, message: &[u8]) {
        self.look();
        self.codes.push(message[0]);
    }

    fn broadcast(&mut self, _line: &str) {
        self.look();
        self.lines += 1;
    }

    fn imu(&mut self) -> Option<ImuSample> {
        self.look();
        None
    }

    fn health(&mut self) -> Health {
        self.look();
        Health::default()
    }
}

#[test]
fn a_tick_sends_outside_of_the_mailbox() {
    let mut side = Side::new();
    side.send(UDP, &build::subscribe(50));
    let begun_us = side.now_us;
    for k in 0..200 {
        side.push_telemetry(sample(begun_us + 500 + 2_000 * k, UDP, 6));
    }
    let done = Done { cycles: 200, ..Done::default() };
    side.now_us += 1_500_000;
    side.post(begun_us + 500_000, UDP, &done, true);
    let mut port = Watching { shared: &side.shared, codes: Vec::new(), lines: 0 };
    side.network.tick(side.now_us, &side.shared, &mut port);
    // 200 samples at 18 a packet, all before the DONE.
    let sent = [&[codes::TELEM; 12][..], &[codes::DONE, codes::STREAM]].concat();
    assert_eq!((port.codes, port.lines), (sent, 1));
}
