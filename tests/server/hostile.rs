//! Clients that flood, send garbage, do not read or vanish: nobody else notices, and memory stays bounded.

use std::io::Write;
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tungstenite::Message;

use super::clients::{ACK, Client, PING, PONG, UdpClient, WebClient, ack_status, control, subscribe};
use super::simulator::{Simulator, eventually, now};

/// A reply takes at most this long however others behave, on a busy machine in a debug build.
const PROMPT: Duration = Duration::from_secs(1);

/// Asks for a PONG and checks that it comes promptly. Returns how long it took.
fn ping(client: &mut dyn Client) -> Duration {
    let begin = now();
    assert_eq!(client.ask(PING, PONG).len(), 14);
    let took = now().duration_since(begin);
    assert!(took < PROMPT, "a PONG took {took:?}");
    took
}

/// As `ping`, for a UDP client beside a flood: the kernel may lose a datagram, so it asks again.
fn ping_again(client: &mut UdpClient) {
    let begin = now();
    loop {
        client.send(PING);
        if client.receive_within(Duration::from_millis(50)).is_some() {
            break;
        }
        assert!(now().duration_since(begin) < 2 * PROMPT, "no PONG");
    }
    // Answers to repeated questions.
    while client.receive_within(Duration::from_millis(5)).is_some() {}
}

#[cfg(target_os = "linux")]
fn check_memory(simulator: &Simulator) {
    let resident_mb = simulator.resident_mb();
    assert!(resident_mb < 40.0, "{resident_mb} MB");
}

#[cfg(not(target_os = "linux"))]
fn check_memory(_simulator: &Simulator) {}

/// Runs `bother` again and again in a thread of its own while `check` runs a few times.
fn while_bothered(mut bother: impl FnMut() + Send, mut check: impl FnMut(), time: Duration) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                bother();
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let begin: Instant = now();
            while now().duration_since(begin) < time {
                check();
                thread::sleep(Duration::from_millis(20));
            }
        }));
        over.store(true, Ordering::Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn a_websocket_that_does_not_read_loses_messages_and_is_still_heard() {
    // At twenty times real time the stream of 100 Hz fills every buffer within seconds.
    let simulator = Simulator::start(&["--speed", "20"]);
    let (mut slow, mut other) = (WebClient::new(&simulator), WebClient::new(&simulator));
    eventually("lost messages", || {
        slow.send(&subscribe(100));
        ping(&mut other);
        simulator.log().contains("does not read").then_some(())
    });
    // Its messages still arrive: it takes control, and nobody else can.
    slow.send(&control(1));
    eventually("the slow client's control", || {
        (ack_status(&other.ask(&control(1), ACK)) == -2).then_some(()).or_else(|| {
            other.send(&control(0));
            slow.send(&control(1));
            None
        })
    });
    check_memory(&simulator);
}

#[test]
fn a_flood_over_udp_changes_nothing_for_others() {
    let simulator = Simulator::start(&[]);
    let (mut web, mut udp) = (WebClient::new(&simulator), UdpClient::new(&simulator));
    let flood = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let bother = || {
        for _ in 0..100 {
            // What the kernel cannot take is lost, as any datagram.
            let _ = flood.send_to(&[0x02; 64], simulator.udp);
        }
    };
    let check = || {
        ping(&mut web);
        ping_again(&mut udp);
        check_memory(&simulator);
    };
    while_bothered(bother, check, Duration::from_secs(2));
}

#[test]
fn a_flood_over_a_websocket_changes_nothing_for_others() {
    let simulator = Simulator::start(&[]);
    let (mut web, mut udp) = (WebClient::new(&simulator), UdpClient::new(&simulator));
    let mut flood = WebClient::new(&simulator);
    flood.0.get_ref().set_write_timeout(Some(Duration::from_millis(100))).expect("a wait above zero");
    let bother = move || {
        for _ in 0..100 {
            // The server may make it wait: that is its way to bound the flood.
            let _ = flood.0.write(Message::binary(vec![0x02; 64]));
        }
        let _ = flood.0.flush();
    };
    let check = || {
        ping(&mut web);
        ping(&mut udp);
        check_memory(&simulator);
    };
    while_bothered(bother, check, Duration::from_secs(2));
}

#[test]
fn garbage_over_both_transports_is_survived() {
    let simulator = Simulator::start(&["--speed", "10"]);
    let mut random = Pcg64Mcg::seed_from_u64(20_261_201);
    let (mut web, mut udp) = (WebClient::new(&simulator), UdpClient::new(&simulator));
    for _ in 0..2_000 {
        let mut bytes = vec![0; (random.next_u32() % 60) as usize];
        random.fill_bytes(&mut bytes);
        web.send(&bytes);
        udp.send(&bytes);
    }
    let (mut web, mut udp) = (WebClient::new(&simulator), UdpClient::new(&simulator));
    ping(&mut web);
    ping(&mut udp);
    check_memory(&simulator);
}

#[test]
fn bytes_that_are_no_http_and_no_websocket_are_survived() {
    let simulator = Simulator::start(&[]);
    let mut client = WebClient::new(&simulator);
    let openings: [&[u8]; 4] =
        [b"\x00\xff\x13garbage\r\n\r\n", b"GET /ws HTTP/1.1\r\n", b"", &[b'A'; 10_000]];
    let half_open: Vec<TcpStream> = openings
        .iter()
        .map(|opening| {
            let mut stream = TcpStream::connect(simulator.websocket).expect("it listens");
            // The server may close at the first wrong byte.
            let _ = stream.write_all(opening);
            stream
        })
        .collect();
    ping(&mut client);
    drop(half_open);
    // A WebSocket that stops speaking the protocol is closed; the others stay.
    let mut broken = WebClient::new(&simulator);
    broken.0.get_mut().write_all(&[0xFF; 64]).expect("it is open");
    assert!([1002, 1006].contains(&broken.close_code()));
    ping(&mut client);
}

#[test]
fn a_client_that_vanishes_in_mid_message_changes_nothing_for_others() {
    let simulator = Simulator::start(&[]);
    let mut client = WebClient::new(&simulator);
    let mut vanishing = WebClient::new(&simulator);
    vanishing.send(&subscribe(100));
    // A masked frame of 100 bytes of which only a few come.
    vanishing.0.get_mut().write_all(&[0x82, 0x80 | 0x64, 1, 2, 3, 4, 5, 6]).expect("it is open");
    vanishing.0.get_ref().shutdown(Shutdown::Both).expect("it is open");
    drop(vanishing);
    eventually("the server's notice", || simulator.log().contains("closed").then_some(()));
    ping(&mut client);
}

#[test]
fn hundreds_of_udp_sources_leave_the_known_ones_served() {
    let simulator = Simulator::start(&[]);
    let mut known = UdpClient::new(&simulator);
    ping(&mut known);
    for _ in 0..10 {
        // Few at a time: the kernel loses what waits beyond its buffer.
        for _ in 0..40 {
            UdpClient::new(&simulator).send(&[0xEE]);
        }
        ping_again(&mut known);
    }
    eventually("the refusal of further sources", || simulator.log().contains("are ignored").then_some(()));
    check_memory(&simulator);
}

#[test]
fn hundreds_of_connections_that_say_nothing_leave_room_for_others() {
    let simulator = Simulator::start(&[]);
    let mut known = WebClient::new(&simulator);
    let silent: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(simulator.websocket).expect("it listens")).collect();
    ping(&mut known);
    // Whoever comes takes the place of the one that was silent longest.
    let begin = now();
    for _ in 0..3 {
        ping(&mut WebClient::new(&simulator));
    }
    assert!(now().duration_since(begin) < Duration::from_secs(5));
    drop(silent);
}

#[test]
fn requests_whose_bodies_never_come_leave_room_for_others() {
    let simulator = Simulator::start(&[]);
    let begun: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(simulator.websocket).expect("it listens");
            let head = "POST /api/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{";
            stream.write_all(head.as_bytes()).expect("a socket takes it");
            stream
        })
        .collect();
    let begin = now();
    ping(&mut WebClient::new(&simulator));
    assert!(now().duration_since(begin) < Duration::from_secs(5));
    drop(begun);
}

#[test]
fn pings_of_a_client_that_reads_nothing_gather_no_memory() {
    let simulator = Simulator::start(&[]);
    let mut known = WebClient::new(&simulator);
    let mut flood = WebClient::new(&simulator);
    let socket = flood.0.get_mut();
    socket.set_write_timeout(Some(Duration::from_millis(200))).expect("a wait above zero");
    // A masked PING of 125 bytes, 64 in a write: 50 MB of them, and as much to answer.
    let ping_frame = [&[0x89, 0x80 | 0x7D, 0, 0, 0, 0][..], &[7; 0x7D]].concat().repeat(64);
    let mut sent = 0;
    while sent < 50_000_000 {
        match socket.write(&ping_frame) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    assert!(sent > 1_000_000, "{sent} bytes went");
    ping(&mut known);
    check_memory(&simulator);
}
