//! The event stream of the command API.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::simulator::{SOON, Simulator, now};

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

    /// The next event. Signs of life come all the time, so that the time-out of a read alone is no bound.
    pub(crate) fn next(&mut self) -> Value {
        let begin = now();
        let in_time = |_: &String| now().duration_since(begin) < SOON;
        let mut lines = self.lines.by_ref().map_while(Result::ok).take_while(in_time);
        let data = lines.find_map(|line| Some(line.strip_prefix("data: ")?.to_owned()));
        serde_json::from_str(&data.expect("an event in time")).expect("JSON")
    }

    pub(crate) fn die(self) {
        self.stream.shutdown(std::net::Shutdown::Both).expect("it was open");
    }
}
