//! A real WebSocket client against the connection, over a real socket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use atom_board::websocket::{Closed, Connection, Output, frame_head};
use tungstenite::Message;

/// Answers every message with the same bytes, and the word `log` with a text frame besides.
struct Echo(TcpStream);

impl Output for Echo {
    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("the client reads");
    }

    fn message(&mut self, message: &[u8]) {
        self.send(&frame_head(false, message.len()));
        self.send(message);
        if message == b"log" {
            self.send(&frame_head(true, 9));
            self.send(b"atom line");
        }
    }
}

/// Serves one client until its connection is over.
fn serve() -> (String, JoinHandle<Option<Closed>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("ws://{}/ws", listener.local_addr().expect("bound"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut echo = Echo(stream.try_clone().expect("a handle"));
        let mut connection = Connection::default();
        let mut buffer = [0; 300];
        loop {
            let count = stream.read(&mut buffer).expect("bytes");
            if count == 0 {
                return None;
            }
            if let Err(closed) = connection.receive(&buffer[..count], &mut echo) {
                // Bytes that nobody read would reset the connection before the client has seen the close frame.
                stream.shutdown(std::net::Shutdown::Write).expect("open");
                while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
                return Some(closed);
            }
        }
    });
    (url, server)
}

#[test]
fn a_client_exchanges_messages_of_all_lengths_pings_and_closes() {
    let (url, server) = serve();
    let (mut client, response) = tungstenite::connect(url).expect("an upgrade");
    assert_eq!(response.status(), 101);
    for length in [1, 125, 126, 1000, 1472] {
        let message: Vec<u8> = (0..length).map(|k| k as u8).collect();
        client.send(Message::binary(message.clone())).expect("sent");
        assert_eq!(client.read().expect("an answer").into_data(), message, "{length} bytes");
    }
    client.send(Message::Ping(vec![1, 2].into())).expect("sent");
    assert_eq!(client.read().expect("a pong"), Message::Pong(vec![1, 2].into()));
    client.send(Message::binary(b"log".to_vec())).expect("sent");
    assert_eq!(client.read().expect("an answer").into_data(), &b"log"[..]);
    assert_eq!(client.read().expect("a line"), Message::text("atom line"));
    client.close(None).expect("sent");
    while client.read().is_ok() {}
    drop(client);
    assert_eq!(server.join().expect("no panic"), Some(Closed::ByClient));
}

#[test]
fn a_message_past_the_longest_closes_the_connection_with_1009() {
    let (url, server) = serve();
    let (mut client, _) = tungstenite::connect(url).expect("an upgrade");
    client.send(Message::binary(vec![0; 1473])).expect("sent");
    let answer = client.read().expect("a close frame");
    let Message::Close(Some(frame)) = answer else { panic!("{answer:?}") };
    assert_eq!(u16::from(frame.code), 1009);
    drop(client);
    assert_eq!(server.join().expect("no panic"), Some(Closed::TooLong));
}
