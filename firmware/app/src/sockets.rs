//! The sockets: UDP 5006, four WebSockets on port 80, the status log's broadcast, mDNS.

use atom_board::clients::{Source, UdpClients};
use atom_board::envelope::{ENVELOPE_BYTES, Inward, MESSAGE_BYTES, Outward};
use atom_board::mdns;
use atom_board::websocket::{self, Connection, Output, frame_head};
use embassy_futures::select::{Either, select};
use embassy_net::tcp::{TcpReader, TcpSocket, TcpWriter};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpAddress, IpEndpoint, Ipv4Address, Stack};
use embassy_time::{Duration, Timer, with_timeout};
use embedded_io_async::Write;
use firmware_core::platform::{ClientId, Transport};
use heapless::Vec;

use crate::link;
use crate::mailbox::now_us;
use crate::queues::{INBOX, LOG, UDP_OUTBOX, WEB_OUTBOXES, WEB_SOCKETS};

/// Port of the messages.
const UDP_PORT: u16 = 5006;
/// Port of the status log.
const LOG_PORT: u16 = 5005;
/// A WebSocket that neither reads nor sends for so long is closed.
const WEB_TIMEOUT: Duration = Duration::from_secs(60);
/// A client that is being closed has so long to take what was said last.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes of the answers that one piece of input can cause: the upgrade, or a pong and a close.
const ANSWER_BYTES: usize = 320;

/// Hands on a client's message. One that does not fit is lost, as on the air.
fn hand_on(transport: Transport, number: u32, message: &[u8]) {
    let _taken = INBOX.put_inward(&Inward::Message { from: ClientId { transport, number }, message });
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
                let Some(source) = clients.source(to) else { continue };
                let to = IpEndpoint::new(IpAddress::Ipv4(Ipv4Address::from(source.ip)), source.port);
                // Without a route the message is lost, as on any network.
                let _sent = socket.send_to(message, to).await;
            }
        }
    }
}

/// Bytes to send, and messages handed to the network side.
struct WebOutput {
    number: u32,
    answer: Vec<u8, ANSWER_BYTES>,
}

impl Output for WebOutput {
    fn send(&mut self, bytes: &[u8]) {
        // A flood of pings loses its pongs; nothing else is that long.
        let _taken = self.answer.extend_from_slice(bytes);
    }

    fn message(&mut self, message: &[u8]) {
        hand_on(Transport::WebSocket, self.number, message);
    }
}

/// One of the WebSockets: serves one client after another.
#[embassy_executor::task(pool_size = WEB_SOCKETS)]
pub(crate) async fn web(stack: Stack<'static>, place: u8) -> ! {
    let (mut receive_bytes, mut send_bytes) = ([0; 1536], [0; 1536]);
    // Numbers of the WebSockets never meet: each place counts in steps of their count.
    let mut number = u32::from(place) + 1;
    loop {
        let mut socket = TcpSocket::new(stack, &mut receive_bytes, &mut send_bytes);
        socket.set_timeout(Some(WEB_TIMEOUT));
        socket.set_keep_alive(Some(WEB_TIMEOUT / 4));
        socket.set_nagle_enabled(false);
        if socket.accept(websocket::PORT).await.is_ok() {
            serve(&mut socket, place, number).await;
            socket.close();
            let _closed = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
            socket.abort();
            let _reset = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
            number = number.wrapping_add(WEB_SOCKETS as u32);
        }
    }
}

/// Tells the network side that a client came or went; it must get through.
async fn tell(event: Inward<'_>) {
    while !INBOX.put_inward(&event) {
        Timer::after_millis(1).await;
    }
}

/// Serves one client until its connection is over.
async fn serve(socket: &mut TcpSocket<'_>, place: u8, number: u32) {
    let (mut reader, mut writer) = socket.split();
    let mut connection = Connection::default();
    let mut output = WebOutput { number, answer: Vec::new() };
    while !connection.is_open() {
        if !exchange(&mut connection, &mut output, &mut reader, &mut writer).await {
            return;
        }
    }
    let outbox = &WEB_OUTBOXES[usize::from(place)];
    outbox.clear();
    tell(Inward::Opened { place, number }).await;
    let mut envelope = [0; ENVELOPE_BYTES];
    let mut input = [0; 256];
    loop {
        match select(reader.read(&mut input), outbox.take(&mut envelope)).await {
            Either::First(Ok(count)) if count > 0 => {
                let open = connection.receive(&input[..count], &mut output).is_ok();
                if !flush_answer(&mut output, &mut writer).await || !open {
                    break;
                }
            }
            Either::First(Ok(_) | Err(_)) => break,
            Either::Second((tag, length)) => {
                let Some(Outward { text, message, .. }) = Outward::read(tag, &envelope[..length]) else {
                    continue;
                };
                let head = frame_head(text, message.len());
                let frame = async {
                    writer.write_all(&head).await?;
                    writer.write_all(message).await
                };
                if frame.await.is_err() {
                    break;
                }
            }
        }
    }
    tell(Inward::Closed { place, number }).await;
}

/// One piece of input of the upgrade. False: the connection is over.
async fn exchange(
    connection: &mut Connection,
    output: &mut WebOutput,
    reader: &mut TcpReader<'_>,
    writer: &mut TcpWriter<'_>,
) -> bool {
    let mut input = [0; 256];
    let Ok(count @ 1..) = reader.read(&mut input).await else { return false };
    let open = connection.receive(&input[..count], output).is_ok();
    flush_answer(output, writer).await && open
}

async fn flush_answer(output: &mut WebOutput, writer: &mut TcpWriter<'_>) -> bool {
    let written = writer.write_all(&output.answer).await.is_ok();
    output.answer.clear();
    written
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
            let _sent = socket.send_to(message, (Ipv4Address::BROADCAST, LOG_PORT)).await;
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
    loop {
        stack.wait_config_up().await;
        let _joined = stack.join_multicast_group(mdns::GROUP);
        if let Some(ip) = link::now().ip
            && let Some(answer) = mdns::answer(ip, None, &mut buffer)
        {
            let _sent = socket.send_to(answer.packet, group).await;
        }
        loop {
            match select(socket.recv_from(&mut question), stack.wait_config_down()).await {
                Either::First(Ok((length, meta))) => {
                    let asked = Some((&question[..length], meta.endpoint.port));
                    let answer = link::now().ip.and_then(|ip| mdns::answer(ip, asked, &mut buffer));
                    if let Some(answer) = answer {
                        let to = if answer.to_group { group } else { meta.endpoint };
                        let _sent = socket.send_to(answer.packet, to).await;
                    }
                }
                Either::First(Err(_)) => {}
                Either::Second(()) => break,
            }
        }
    }
}
