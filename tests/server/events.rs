//! The event stream of the command API.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::simulator::{SOON, Simulator};

/// An open event stream, which is a session.
pub(crate) struct Events {
    lines: std::io::Lines<BufReader<TcpStream>>,
    stream: TcpStream,
}

impl Events {
    pub(crate) fn open(simulator: &Simulator) -> Self {
        let mut stream = TcpStream::connect(simulator.websocket).expect("it listens");
        stream.set_read_timeout(Some(SOON)).expect("a wait above zero");
        write!(stream, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        let lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
        Self { lines, stream }
    }

    pub(crate) fn next(&mut self) -> Value {
        let data = self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("data: ").map(|data| serde_json::from_str(data).expect("JSON"))
        });
        data.expect("an event")
    }

    pub(crate) fn die(self) {
        self.stream.shutdown(std::net::Shutdown::Both).expect("it was open");
    }
}
