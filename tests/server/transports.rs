//! One protocol over two transports: what a client sees of UDP and WebSocket.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::api::Api;
use super::clients::{
    ACK, Client, DONE, Event, PING, PONG, STATE, STREAM, TELEM, UdpClient, WebClient, ack_status, control,
    move_to, subscribe,
};
use super::simulator::{SOON, Simulator, eventually};

const SHORT: Duration = Duration::from_millis(200);

#[test]
fn requests_get_the_same_replies_over_udp_and_websocket() {
    let simulator = Simulator::start(&[]);
    let (mut udp, mut web) = (UdpClient::new(&simulator), WebClient::new(&simulator));
    let pong = [0x81, 5, 0, 1, 0, 0, 0, 0, 250, 0, 1, 1, 1, 0];
    for client in [&mut udp as &mut dyn Client, &mut web] {
        assert_eq!(client.ask(PING, PONG), pong);
        let state = client.ask(STATE, 0x82);
        assert_eq!((state.len(), &state[1..3]), (15 + 8 * 7, &[1, 7][..]));
        assert_eq!(client.ask(&[0x08], ACK), [0x83, 0x08, 0, 0, 0, 0, 0]);
        // The model number of J7 at registers 3 and 4.
        assert_eq!(client.ask(&[0x09, 7, 3, 2], 0x86), [0x86, 7, 3, 2, 0, 0x0A, 0x07]);
        client.send(&subscribe(50));
        assert_eq!(client.receive_code(STREAM).len(), 21 + 11 * 7);
        client.send(&subscribe(0));
    }
}

#[test]
fn a_reply_over_udp_goes_to_the_very_source_from_the_command_port() {
    let simulator = Simulator::start(&[]);
    // As the lab's tools, bound to a port of their own.
    let (asking, other) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
    let (asking, other) = (asking.expect("a free port"), other.expect("a free port"));
    asking.set_read_timeout(Some(SOON)).expect("a wait above zero");
    other.set_read_timeout(Some(SHORT)).expect("a wait above zero");
    asking.send_to(PING, simulator.udp).expect("loopback");
    let mut buffer = [0; 64];
    let (length, from) = asking.recv_from(&mut buffer).expect("a PONG");
    assert_eq!((buffer[0], length, from), (PONG, 14, simulator.udp));
    assert!(other.recv(&mut buffer).is_err(), "somebody else got a message");
}

#[test]
fn a_move_sends_telemetry_over_udp_but_not_over_websocket() {
    let simulator = Simulator::start(&["--speed", "10"]);
    let (mut udp, mut web) = (UdpClient::new(&simulator), WebClient::new(&simulator));
    let telemetry = |client: &mut dyn Client, goal| {
        assert_eq!(ack_status(&client.ask(&control(1), ACK)), 0);
        assert_eq!(ack_status(&client.ask(&move_to(goal), ACK)), 0);
        let mut packets = 0;
        loop {
            let message = client.receive_within(SOON).expect("DONE comes");
            match message[0] {
                TELEM => packets += 1,
                DONE => {
                    assert_eq!(message[1], 0, "{message:02x?}");
                    break;
                }
                other => panic!("{other:02x} during a move"),
            }
        }
        assert_eq!(ack_status(&client.ask(&control(0), ACK)), 0);
        packets
    };
    assert!(telemetry(&mut udp, [0, 0, -20, 0, 0, 0]) > 10);
    assert_eq!(telemetry(&mut web, [0, 0, -40, 0, 0, 0]), 0);
}

#[test]
fn udp_and_websocket_clients_share_control() {
    let simulator = Simulator::start(&[]);
    let (mut udp, mut web) = (UdpClient::new(&simulator), WebClient::new(&simulator));
    assert_eq!(ack_status(&web.ask(&control(1), ACK)), 0);
    assert_eq!(ack_status(&udp.ask(&move_to([0; 6]), ACK)), -2);
    // Control ends at once when the holder's WebSocket closes, not after its 2 s.
    web.0.close(None).expect("it is open");
    assert_eq!(web.close_code(), 1005);
    assert_eq!(ack_status(&udp.ask(&control(1), ACK)), 0);
}

#[test]
fn a_websocket_that_vanishes_ends_its_control() {
    let simulator = Simulator::start(&[]);
    let (mut udp, mut web) = (UdpClient::new(&simulator), WebClient::new(&simulator));
    assert_eq!(ack_status(&web.ask(&control(1), ACK)), 0);
    drop(web);
    eventually("control", || (ack_status(&udp.ask(&control(1), ACK)) == 0).then_some(()));
    assert!(simulator.log().contains("closed"));
}

#[test]
fn the_status_log_goes_to_every_websocket_and_to_the_address_asked_for() {
    let listener = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    listener.set_read_timeout(Some(SOON)).expect("a wait above zero");
    let to = listener.local_addr().expect("bound").to_string();
    let simulator = Simulator::start(&["--status-log", &to, "--speed", "5"]);
    let (mut first, mut second) = (WebClient::new(&simulator), WebClient::new(&simulator));
    let mut buffer = [0; 1500];
    let length = listener.recv(&mut buffer).expect("a line by UDP");
    for line in [first.line(), second.line(), String::from_utf8_lossy(&buffer[..length]).into_owned()] {
        assert!(line.starts_with("atom-sim v5.1.0 ("), "{line}");
        assert!(line.contains(" state=1 ") && line.contains(" joints=7 ") && !line.contains('\n'), "{line}");
    }
}

#[test]
fn status_log_lines_come_once_a_second() {
    let simulator = Simulator::start(&["--speed", "10"]);
    let mut client = WebClient::new(&simulator);
    let up = |line: &str| -> u32 {
        let (_, rest) = line.split_once(" up=").expect("the line says since when it is up");
        rest.split_once('s').expect("a unit").0.parse().expect("a number")
    };
    let first = up(&client.line());
    assert_eq!([up(&client.line()), up(&client.line())], [first + 1, first + 2]);
}

#[test]
fn text_empty_and_unknown_messages_are_ignored() {
    let simulator = Simulator::start(&[]);
    let (mut udp, mut web) = (UdpClient::new(&simulator), WebClient::new(&simulator));
    for message in [Message::text("\u{1}"), Message::binary(vec![]), Message::binary(vec![0xEE, 1, 2])] {
        web.0.send(message).expect("it is open");
    }
    udp.send(&[]);
    udp.send(&[0xEE, 1, 2]);
    for client in [&mut udp as &mut dyn Client, &mut web] {
        assert_eq!(client.receive_within(SHORT), None);
        assert_eq!(client.ask(PING, PONG).len(), 14);
    }
}

#[test]
fn a_websocket_message_above_16_kib_closes_with_1009_and_one_of_16_kib_does_not() {
    let simulator = Simulator::start(&[]);
    let mut ping = vec![0; 16 * 1024];
    ping[0] = 0x01;
    let mut client = WebClient::new(&simulator);
    assert_eq!(client.ask(&ping, PONG).len(), 14);
    ping.push(0);
    client.send(&ping);
    assert_eq!(client.close_code(), 1009);
    // Far more than the connection's buffers hold.
    let mut client = WebClient::new(&simulator);
    // The server may close before it has taken all.
    let _ = client.0.send(Message::binary(vec![0x01; 4 << 20]));
    assert!([1009, 1006].contains(&client.close_code()));
    assert_eq!(WebClient::new(&simulator).ask(PING, PONG).len(), 14);
}

#[test]
fn a_message_in_fragments_is_one_message_and_its_sum_counts() {
    let simulator = Simulator::start(&[]);
    let mut client = WebClient::new(&simulator);
    let fragment = |client: &mut WebClient, code, bytes: &[u8], last| {
        let frame = Frame::message(bytes.to_vec(), OpCode::Data(code), last);
        client.0.send(Message::Frame(frame)).expect("it is open");
    };
    fragment(&mut client, Data::Binary, &[0x0D], false);
    fragment(&mut client, Data::Continue, &[1], true);
    assert_eq!(ack_status(&client.receive_code(ACK)), 0);
    fragment(&mut client, Data::Binary, &[0x01; 9 * 1024], false);
    fragment(&mut client, Data::Continue, &[0x01; 9 * 1024], true);
    assert_eq!(client.close_code(), 1009);
}

#[test]
fn a_datagram_above_1500_bytes_is_ignored_and_one_of_1500_is_not() {
    let simulator = Simulator::start(&[]);
    let mut client = UdpClient::new(&simulator);
    client.send(&[0x01; 1501]);
    assert_eq!(client.receive_within(SHORT), None);
    client.send(&[0x01; 1500]);
    assert_eq!(client.receive_code(PONG).len(), 14);
}

#[test]
fn a_page_of_any_origin_may_connect() {
    let simulator = Simulator::start(&[]);
    let mut client = WebClient::open(simulator.websocket, Some("https://example.github.io"))
        .expect("every origin is welcome");
    assert_eq!(client.ask(PING, PONG).len(), 14);
}

fn http_status(simulator: &Simulator, request: &str) -> String {
    let mut stream = TcpStream::connect(simulator.websocket).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a wait above zero");
    write!(stream, "{request} HTTP/1.1\r\nHost: atom\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split_whitespace().nth(1).expect("a status").to_owned()
}

#[test]
fn other_paths_answer_404_and_ws_wants_an_upgrade() {
    let simulator = Simulator::start(&[]);
    for path in ["/", "/ws/", "/wss", "/index.html", "/../ws"] {
        assert_eq!(http_status(&simulator, &format!("GET {path}")), "404", "{path}");
    }
    assert_eq!(http_status(&simulator, "GET /ws"), "400");
    assert_eq!(http_status(&simulator, "POST /ws"), "405");
}

#[test]
fn the_oldest_firmware_has_no_websocket() {
    let simulator = Simulator::start(&["--api", "4.1"]);
    assert!(simulator.ready_line.contains("\"websocket\":null"), "{}", simulator.ready_line);
    assert_eq!(http_status(&simulator, "GET /ws"), "404");
    let pong = UdpClient::new(&simulator).ask(PING, PONG);
    assert_eq!((pong[1], pong[12], pong[13]), (4, 1, 0));
}

#[test]
fn a_reset_to_another_firmware_takes_the_websocket_away_and_brings_it() {
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let mut page = WebClient::new(&simulator);
    api.post("reset", &json!({ "api": "4.1" }));
    page.close_code();
    assert_eq!(http_status(&simulator, "GET /ws"), "404");
    assert_eq!(http_status(&simulator, "POST /ws"), "404");
    assert!(WebClient::open(simulator.websocket, None).is_err());
    api.post("reset", &json!({ "api": "4.2" }));
    let pong = WebClient::new(&simulator).ask(PING, PONG);
    assert_eq!((pong[1], pong[12]), (4, 2));

    let oldest = Simulator::start(&["--api", "4.1"]);
    Api::new(&oldest).post("reset", &json!({ "api": "5.1" }));
    WebClient::new(&oldest).ask(PING, PONG);
}

#[test]
fn one_connection_too_many_is_answered_503_until_a_place_is_free() {
    let simulator = Simulator::start(&["--max-connections", "2"]);
    let (mut first, second) = (WebClient::new(&simulator), WebClient::new(&simulator));
    let refused = WebClient::open(simulator.websocket, None).err().expect("no place is free");
    assert!(refused.contains("503"), "{refused}");
    assert_eq!(first.ask(PING, PONG).len(), 14);
    drop(second);
    eventually("a free place", || WebClient::open(simulator.websocket, None).ok());
}

#[test]
fn a_websocket_ping_is_answered() {
    let simulator = Simulator::start(&[]);
    let mut client = WebClient::new(&simulator);
    client.0.send(Message::Ping(b"there?"[..].into())).expect("it is open");
    let answer = eventually("a pong", || match client.0.read().expect("an answer") {
        Message::Pong(bytes) => Some(bytes),
        _ => None,
    });
    assert_eq!(&answer[..], b"there?");
    assert!(matches!(client.event_within(SHORT), None | Some(Event::Line(_))));
}
