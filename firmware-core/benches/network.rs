//! What the network side costs: a message, a tick with nothing to do, a wake-up time, STREAM and TELEM.

use std::cell::RefCell;

use divan::{Bencher, black_box};
use firmware_core::network::{Banner, Network, NetworkOptions};
use firmware_core::platform::{ClientId, Health, ImuSample, NetworkPort, Transport};
use firmware_core::protocol::request::build;
use firmware_core::protocol::telemetry::{Sample, encode_packet};
use firmware_core::protocol::{ApiLevel, Reply, Request, codes};
use firmware_core::shared::{Shared, State};

fn main() {
    divan::main();
}

const CLIENT: ClientId = ClientId { transport: Transport::Udp, number: 1 };

/// Counts the bytes that go out.
#[derive(Default)]
struct Port(usize);

impl NetworkPort for Port {
    fn send(&mut self, _to: ClientId, message: &[u8]) {
        self.0 += black_box(message).len();
    }

    fn broadcast(&mut self, line: &str) {
        self.0 += black_box(line).len();
    }

    fn imu(&mut self) -> Option<ImuSample> {
        Some(ImuSample::default())
    }

    fn health(&mut self) -> Health {
        Health::default()
    }
}

/// A network side at 1.5 s, jogging, so that JOG messages go on with the run.
fn jogging() -> (Network, RefCell<Shared>, Port) {
    let network = Network::new(NetworkOptions {
        level: ApiLevel::V5_1,
        max_subscribers: 8,
        plan_bytes_max: 120_024,
        banner: Banner::Simulator,
        build: "bench",
    });
    let mailbox = RefCell::new(Shared::default());
    let mut view = *mailbox.borrow().view.shown();
    view.state = State::Jogging;
    view.n = 7;
    mailbox.borrow_mut().view.show(view);
    (network, mailbox, Port::default())
}

fn receive(bencher: Bencher<'_, '_>, message: &[u8]) {
    let (mut network, mailbox, mut port) = jogging();
    bencher.bench_local(|| network.receive(1_500_000, CLIENT, black_box(message), &mailbox, &mut port));
}

#[divan::bench]
fn receive_ping(bencher: Bencher<'_, '_>) {
    receive(bencher, &build::plain(codes::PING));
}

#[divan::bench]
fn receive_jog(bencher: Bencher<'_, '_>) {
    receive(bencher, &build::jog(&[10.0; 7]));
}

#[divan::bench]
fn receive_track(bencher: Bencher<'_, '_>) {
    receive(bencher, &build::track(&[-1.0; 7], 60.0));
}

#[divan::bench]
fn receive_refused_move(bencher: Bencher<'_, '_>) {
    receive(bencher, &build::move_to(&[-1.0; 7], 0));
}

#[divan::bench]
fn tick_with_nothing_to_do(bencher: Bencher<'_, '_>) {
    let (mut network, mailbox, mut port) = jogging();
    bencher.bench_local(|| network.tick(black_box(500_000), &mailbox, &mut port));
}

#[divan::bench]
fn next_wake(bencher: Bencher<'_, '_>) {
    let (network, mailbox, _port) = jogging();
    bencher.bench_local(|| network.next_wake_us(black_box(&mailbox)));
}

/// A tick that sends one STREAM packet.
#[divan::bench]
fn tick_with_one_stream_packet(bencher: Bencher<'_, '_>) {
    let (mut network, mailbox, mut port) = jogging();
    let mut now_us = 990_000;
    bencher.bench_local(|| {
        now_us += 10_000;
        if now_us % 1_000_000 == 0 {
            network.receive(now_us, CLIENT, &build::subscribe(100), &mailbox, &mut port);
        }
        network.tick(now_us, &mailbox, &mut port);
    });
    assert!(port.0 > 0, "packets went out");
}

#[divan::bench]
fn decode_request() {
    let message = build::jog_tcp(2, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 0.0, 60.0);
    let _ = black_box(Request::decode(black_box(&message), ApiLevel::V5_1));
}

#[divan::bench]
fn encode_telemetry_of_18_samples() {
    let sample = Sample { n: 6, ..Sample::default() };
    black_box(encode_packet(0, 18, core::iter::repeat_n(black_box(sample), 18)));
}

#[divan::bench]
fn decode_telemetry_of_18_samples(bencher: Bencher<'_, '_>) {
    let sample = Sample { n: 6, ..Sample::default() };
    let packet = encode_packet(0, 18, core::iter::repeat_n(sample, 18));
    bencher.bench_local(|| Reply::decode(black_box(&packet)));
}
