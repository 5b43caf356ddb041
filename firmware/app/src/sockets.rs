//! The sockets: UDP 5006, four WebSockets on port 80, the status log's broadcast, mDNS.

use core::cell::Cell;

use atom_board::clients::{Source, UdpClients};
use atom_board::envelope::{ENVELOPE_BYTES, Inward, MESSAGE_BYTES, Outward};
use atom_board::mdns;
use atom_board::websocket::{self, Connection, Output, frame_head};
use embassy_futures::poll_once;
use embassy_futures::select::{Either, select};
use embassy_net::tcp::{Error as TcpError, TcpReader, TcpSocket, TcpWriter};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpAddress, IpEndpoint, Ipv4Address, Stack};
use embassy_time::{Duration, Timer, with_timeout};
use embedded_io_async::Write;
use firmware_core::platform::{ClientId, Transport};

use crate::mailbox::now_us;
use crate::queues::{
    INBOX, LOG, Pipe, UDP_OUTBOX, WEB_ANSWER_BYTES, WEB_ANSWERS, WEB_OUTBOX_BYTES, WEB_OUTBOXES, WEB_SOCKETS,
    Waiting,
};

/// Port of the messages.
const UDP_PORT: u16 = 5006;
/// Port of the status log.
const LOG_PORT: u16 = 5005;
/// A WebSocket that neither reads nor sends for so long is closed.
const WEB_TIMEOUT: Duration = Duration::from_secs(60);
/// A client that is being closed has so long to take what was said last.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// So long may packets for one who is gone keep others from theirs (µs).
const FULL_US: u64 = 500_000;
/// mDNS looks so often whether there is another address.
const ADDRESS_LOOK: Duration = Duration::from_millis(250);
/// A client has so long to ask for its WebSocket.
const UPGRADE_TIMEOUT: Duration = Duration::from_secs(10);

/// Hands on a client's message. One that does not fit is lost, as on the air.
fn hand_on(transport: Transport, number: u32, message: &[u8]) {
    let _taken = INBOX.put(&Inward::Message { from: ClientId { transport, number }, message });
}

/// The UDP clients.
#[embassy_executor::task]
pub(crate) async fn udp(stack: Stack<'static>) -> ! {
    let (mut receive_meta, mut send_meta) = ([PacketMetadata::EMPTY; 8], [PacketMetadata::EMPTY; 8]);
    let (mut receive_bytes, mut send_bytes) = ([0; 2 * MESSAGE_BYTES], [0; 2 * MESSAGE_BYTES]);
    let mut socket =
        UdpSocket::new(stack, &mut receive_meta, &mut receive_bytes, &mut send_meta, &mut send_bytes);
    // The port is free: this is the only socket that asks for it.
    let _bound = socket.bind(UDP_PORT);
    let mut clients = UdpClients::default();
    // Since when there has been no room to send (µs).
    let mut full_us = None;
    let (mut received, mut sent) = ([0; MESSAGE_BYTES], [0; ENVELOPE_BYTES]);
    loop {
        match select(socket.recv_from(&mut received), UDP_OUTBOX.take(&mut sent)).await {
            Either::First(Ok((length, meta))) => {
                let IpAddress::Ipv4(ip) = meta.endpoint.addr;
                let source = Source { ip: ip.octets(), port: meta.endpoint.port };
                hand_on(Transport::Udp, clients.number(source, now_us()), &received[..length]);
            }
            // A packet longer than any message.
            Either::First(Err(_)) => {}
            Either::Second((tag, length)) => {
                let Some(Outward { to, message, .. }) = Outward::read(tag, &sent[..length]) else { continue };
                let Some(source) = clients.source(to, now_us()) else { continue };
                let to = IpEndpoint::new(IpAddress::Ipv4(Ipv4Address::from(source.ip)), source.port);
                // Nobody waits for one who does not answer: without room or a route the message is lost.
                let sent = poll_once(socket.send_to(message, to));
                if sent.is_ready() {
                    full_us = None;
                } else if now_us() > *full_us.get_or_insert(now_us()) + FULL_US {
                    // What is for an address that is gone stays in front of all else: throw it away.
                    socket.close();
                    let _bound = socket.bind(UDP_PORT);
                    full_us = None;
                }
            }
        }
    }
}

/// What one client's bytes cause: answers of the WebSocket itself, and messages handed to the network side.
struct WebOutput {
    place: usize,
    number: u32,
    /// The network side knows of the client.
    known: bool,
}

impl Output for WebOutput {
    fn send(&mut self, bytes: &[u8]) {
        // A flood of pings loses its pongs.
        WEB_ANSWERS[self.place].put_plain(bytes);
    }

    fn message(&mut self, message: &[u8]) {
        // Who does not wait for the upgrade's answer is not heard.
        if self.known {
            hand_on(Transport::WebSocket, self.number, message);
        }
    }
}

/// One of the WebSockets: serves one client after another.
#[embassy_executor::task(pool_size = WEB_SOCKETS)]
pub(crate) async fn web(stack: Stack<'static>, place: u8) -> ! {
    let (mut receive_bytes, mut send_bytes) = ([0; 1536], [0; 1536]);
    let mut count = 0_u32;
    loop {
        let mut socket = TcpSocket::new(stack, &mut receive_bytes, &mut send_bytes);
        socket.set_timeout(Some(WEB_TIMEOUT));
        socket.set_keep_alive(Some(WEB_TIMEOUT / 4));
        socket.set_nagle_enabled(false);
        if socket.accept(websocket::PORT).await.is_ok() {
            serve(&mut socket, place, Waiting::number(place, count)).await;
            socket.close();
            let _closed = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
            socket.abort();
            let _reset = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
            count += 1;
        }
    }
}

/// Tells the network side that a client came or went; it must get through.
async fn tell(event: Inward<'_>) {
    while !INBOX.put(&event) {
        Timer::after_millis(1).await;
    }
}

/// Serves one client until its connection is over. It is heard while it does not read: a STOP gets through.
async fn serve(socket: &mut TcpSocket<'_>, place: u8, number: u32) {
    let (mut reader, mut writer) = socket.split();
    let mut connection = Connection::default();
    let mut output = WebOutput { place: usize::from(place), number, known: false };
    let (outbox, answers) = (&WEB_OUTBOXES[output.place], &WEB_ANSWERS[output.place]);
    answers.clear();
    let upgrade =
        async { while !connection.is_open() && listen(&mut connection, &mut output, &mut reader).await {} };
    // Who only connects gets no place.
    let _in_time = with_timeout(UPGRADE_TIMEOUT, upgrade).await;
    let answered = with_timeout(CLOSE_TIMEOUT, write_answers(answers, &mut writer)).await;
    if !connection.is_open() || !matches!(answered, Ok(Ok(()))) {
        return;
    }
    outbox.clear();
    tell(Inward::Opened { place, number }).await;
    output.known = true;
    let in_a_frame = Cell::new(false);
    let hear = async { while listen(&mut connection, &mut output, &mut reader).await {} };
    select(hear, talk(number, outbox, answers, &mut writer, &in_a_frame)).await;
    tell(Inward::Closed { place, number }).await;
    if !in_a_frame.get() {
        // The last of them says why.
        let _answered = with_timeout(CLOSE_TIMEOUT, write_answers(answers, &mut writer)).await;
    }
}

/// Takes the client's next bytes. False: the connection is over.
async fn listen(connection: &mut Connection, output: &mut WebOutput, reader: &mut TcpReader<'_>) -> bool {
    let mut input = [0; 256];
    match reader.read(&mut input).await {
        Ok(count @ 1..) => connection.receive(&input[..count], output).is_ok(),
        Ok(_) | Err(_) => false,
    }
}

/// Sends what waits for the client, until that fails.
async fn talk(
    number: u32,
    outbox: &Pipe<WEB_OUTBOX_BYTES>,
    answers: &Pipe<WEB_ANSWER_BYTES>,
    writer: &mut TcpWriter<'_>,
    in_a_frame: &Cell<bool>,
) -> Result<(), TcpError> {
    let mut envelope = [0; ENVELOPE_BYTES];
    let mut answer = [0; WEB_ANSWER_BYTES];
    loop {
        match select(answers.take(&mut answer), outbox.take(&mut envelope)).await {
            Either::First((_, length)) => {
                in_a_frame.set(true);
                writer.write_all(&answer[..length]).await?;
            }
            Either::Second((tag, length)) => {
                // What was meant for the client before on this WebSocket is not for this one.
                let Some(Outward { text, message, .. }) =
                    Outward::read(tag, &envelope[..length]).filter(|outward| outward.to == number)
                else {
                    continue;
                };
                in_a_frame.set(true);
                writer.write_all(&frame_head(text, message.len())).await?;
                writer.write_all(message).await?;
            }
        }
        in_a_frame.set(false);
    }
}

/// Sends the answers that wait.
async fn write_answers(answers: &Pipe<WEB_ANSWER_BYTES>, writer: &mut TcpWriter<'_>) -> Result<(), TcpError> {
    let mut answer = [0; WEB_ANSWER_BYTES];
    while let Some((_, length)) = answers.try_take(&mut answer) {
        writer.write_all(&answer[..length]).await?;
    }
    Ok(())
}

/// The status log, to everybody in the network.
#[embassy_executor::task]
pub(crate) async fn log(stack: Stack<'static>) -> ! {
    let (mut receive_meta, mut send_meta) = ([PacketMetadata::EMPTY; 1], [PacketMetadata::EMPTY; 2]);
    let (mut receive_bytes, mut send_bytes) = ([0; 64], [0; 1024]);
    let mut socket =
        UdpSocket::new(stack, &mut receive_meta, &mut receive_bytes, &mut send_meta, &mut send_bytes);
    let _bound = socket.bind(LOG_PORT);
    let mut envelope = [0; 512];
    loop {
        let (tag, length) = LOG.take(&mut envelope).await;
        if let Some(Outward { message, .. }) = Outward::read(tag, &envelope[..length]) {
            let _sent = poll_once(socket.send_to(message, (Ipv4Address::BROADCAST, LOG_PORT)));
        }
    }
}

/// mDNS: announces at each connect, then answers.
#[embassy_executor::task]
pub(crate) async fn name(stack: Stack<'static>) -> ! {
    let (mut receive_meta, mut send_meta) = ([PacketMetadata::EMPTY; 4], [PacketMetadata::EMPTY; 2]);
    let (mut receive_bytes, mut send_bytes) = ([0; 1024], [0; 512]);
    let mut socket =
        UdpSocket::new(stack, &mut receive_meta, &mut receive_bytes, &mut send_meta, &mut send_bytes);
    let _bound = socket.bind(mdns::PORT);
    let group = IpEndpoint::new(IpAddress::Ipv4(mdns::GROUP), mdns::PORT);
    let (mut question, mut buffer) = ([0; 512], [0; 512]);
    let mut announced = None;
    loop {
        // Looked at, not waited for: the stack wakes one of those who wait for its address, and that is another task.
        let ip = stack.config_v4().map(|config| config.address.address().octets());
        if ip != announced {
            announced = ip;
            let _joined = stack.join_multicast_group(mdns::GROUP);
            if let Some(answer) = ip.and_then(|ip| mdns::answer(ip, None, &mut buffer)) {
                let _sent = poll_once(socket.send_to(answer.packet, group));
            }
        }
        match select(socket.recv_from(&mut question), Timer::after(ADDRESS_LOOK)).await {
            Either::First(Ok((length, meta))) => {
                let asked = Some((&question[..length], meta.endpoint.port));
                if let Some(answer) = ip.and_then(|ip| mdns::answer(ip, asked, &mut buffer)) {
                    let to = if answer.to_group { group } else { meta.endpoint };
                    let _sent = poll_once(socket.send_to(answer.packet, to));
                }
            }
            Either::First(Err(_)) | Either::Second(()) => {}
        }
    }
}
