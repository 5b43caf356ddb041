//! Many clients at once.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use super::clients::{Client, PING, PONG, STATE, STREAM, UdpClient, WebClient, subscribe};
use super::simulator::{Simulator, now};

/// Counts the STREAM packets that come in a time, renewing the subscription.
fn count_stream(client: &mut dyn Client, rate_hz: u16, time: Duration) -> usize {
    let begin = now();
    let (mut packets, mut renewals) = (0, 0);
    while now().duration_since(begin) < time {
        if now().duration_since(begin) >= Duration::from_millis(500) * renewals {
            client.send(&subscribe(rate_hz));
            renewals += 1;
        }
        if let Some(message) = client.receive_within(Duration::from_millis(50))
            && message[0] == STREAM
        {
            assert_eq!(message.len(), 21 + 11 * 7);
            packets += 1;
        }
    }
    packets
}

#[test]
fn four_websocket_and_four_udp_clients_each_get_their_stream() {
    let simulator = Simulator::start(&[]);
    let counts: Vec<usize> = thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|number| {
                let simulator = &simulator;
                scope.spawn(move || {
                    let mut client: Box<dyn Client> = if number < 4 {
                        Box::new(WebClient::new(simulator))
                    } else {
                        Box::new(UdpClient::new(simulator))
                    };
                    count_stream(&mut *client, 50, Duration::from_secs(2))
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("the client goes through")).collect()
    });
    for count in &counts {
        // 100 packets in 2 s; a busy machine may start or end a client late.
        assert!((85..=102).contains(count), "packets per client: {counts:?}");
    }
}

#[test]
fn each_of_64_websockets_is_served() {
    let simulator = Simulator::start(&[]);
    let mut clients: Vec<WebClient> = (0..64).map(|_| WebClient::new(&simulator)).collect();
    for client in &mut clients {
        client.send(PING);
    }
    for client in &mut clients {
        assert_eq!(client.receive_code(PONG).len(), 14);
        assert_eq!(client.ask(STATE, 0x82).len(), 15 + 8 * 7);
    }
    let mut lines = BTreeMap::new();
    for client in &mut clients {
        *lines.entry(client.line()).or_insert(0) += 1;
    }
    assert_eq!(lines.values().sum::<i32>(), 64);
    #[cfg(target_os = "linux")]
    assert!(simulator.resident_mb() < 30.0, "{} MB with 64 WebSockets, debug build", simulator.resident_mb());
}
