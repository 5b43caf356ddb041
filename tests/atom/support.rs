//! A bench for whole-ATOM tests in virtual time: clients that send, and all that came back.

use atom_sim::atom::{Atom, ClientId, Options, Output, Transport};
use firmware_core::platform::ClientId as Client;
use firmware_core::protocol::reply::{Ack, Done, Reply};
use firmware_core::protocol::request::build;
use firmware_core::protocol::stream::Stream;

/// An ATOM and everything it sent.
pub(crate) struct Bench {
    /// The ATOM.
    pub(crate) atom: Atom,
    /// All outputs so far, in order.
    pub(crate) outputs: Vec<Output>,
}

impl Bench {
    pub(crate) fn new(options: &Options) -> Self {
        Self { atom: Atom::new(options).expect("options of a test are valid"), outputs: Vec::new() }
    }

    pub(crate) fn udp(&mut self) -> ClientId {
        self.atom.connect(Transport::Udp)
    }

    pub(crate) fn web(&mut self) -> ClientId {
        self.atom.connect(Transport::WebSocket)
    }

    pub(crate) fn send(&mut self, client: Client, bytes: &[u8]) {
        self.atom.receive(client, bytes);
    }

    /// Advances by milliseconds and returns what came out.
    pub(crate) fn run_ms(&mut self, ms: u64) -> Vec<Output> {
        self.atom.advance_to(self.atom.now_us() + ms * 1000);
        let from = self.outputs.len();
        while let Some(output) = self.atom.poll_output() {
            self.outputs.push(output);
        }
        self.outputs[from..].to_vec()
    }

    /// Sends, advances by milliseconds, and returns the replies to this client besides STREAM and TELEM.
    pub(crate) fn ask_ms(&mut self, client: Client, bytes: &[u8], ms: u64) -> Vec<Reply> {
        self.send(client, bytes);
        let outputs = self.run_ms(ms);
        replies_to(client, &outputs)
            .into_iter()
            .filter(|reply| !matches!(reply, Reply::Stream(_) | Reply::Telemetry(_)))
            .collect()
    }

    /// The latest STREAM to a client.
    pub(crate) fn stream(&self, client: Client) -> Stream {
        replies_to(client, &self.outputs)
            .into_iter()
            .rev()
            .find_map(|reply| if let Reply::Stream(stream) = reply { Some(stream) } else { None })
            .expect("a STREAM came")
    }

    /// Sends `message` every `period_ms` for `total_ms`.
    pub(crate) fn repeat_ms(
        &mut self,
        client: Client,
        message: &[u8],
        period_ms: u64,
        total_ms: u64,
    ) -> Vec<Output> {
        let mut outputs = Vec::new();
        for _ in 0..total_ms / period_ms {
            self.send(client, message);
            outputs.extend(self.run_ms(period_ms));
        }
        outputs
    }

    pub(crate) fn subscribe(&mut self, client: Client, rate_hz: u16) {
        self.send(client, &build::subscribe(rate_hz));
    }
}

/// The status log lines.
pub(crate) fn status_lines(outputs: &[Output]) -> Vec<String> {
    let line = |output: &Output| {
        if let Output::StatusLine { line, .. } = output { Some(line.clone()) } else { None }
    };
    outputs.iter().filter_map(line).collect()
}

/// Times of all messages to one client (µs).
pub(crate) fn times_to(client: Client, outputs: &[Output]) -> Vec<u64> {
    let time = |output: &Output| match output {
        Output::Message { t_us, to, .. } if *to == client => Some(*t_us),
        Output::Message { .. } | Output::StatusLine { .. } | Output::Closed { .. } => None,
    };
    outputs.iter().filter_map(time).collect()
}

/// Decoded messages to one client.
pub(crate) fn replies_to(client: Client, outputs: &[Output]) -> Vec<Reply> {
    outputs
        .iter()
        .filter_map(|output| match output {
            Output::Message { to, bytes, .. } if *to == client => {
                Some(Reply::decode(bytes).expect("every output decodes"))
            }
            Output::Message { .. } | Output::Closed { .. } | Output::StatusLine { .. } => None,
        })
        .collect()
}

pub(crate) fn ack(code: u8, status: i8) -> Reply {
    Reply::Ack(Ack { code, status, value: 0 })
}

pub(crate) fn done_of(replies: &[Reply]) -> Option<Done> {
    replies.iter().find_map(|reply| if let Reply::Done(done) = reply { Some(*done) } else { None })
}
