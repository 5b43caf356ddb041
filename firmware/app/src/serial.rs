//! Improv on the USB serial port: bytes in and out, and what the core asks for.

use embassy_futures::select::{Either, select};
use embassy_time::{Duration, Timer};
use embedded_io_async::{Read, Write};
use esp_hal::Async;
use esp_hal::uart::Uart;
use firmware_core::improv::packet::PACKET_BYTES;
use firmware_core::improv::{Action, Credentials, Device, Improv, Situation};
use heapless::Vec;

use crate::LEVEL;
use crate::flash::NetworkStore;
use crate::mailbox::now_us;
use crate::{link, network, wifi};

/// How often the joining of a network is looked at.
const LOOK_PERIOD: Duration = Duration::from_millis(100);
/// A scan takes about 2 s; one that does not end found nothing.
const SCAN_TIMEOUT: Duration = Duration::from_secs(8);
/// Bytes that wait to be sent: a state and an address, or an error and a state.
const OUTPUT_BYTES: usize = 2 * PACKET_BYTES;

type Port = Uart<'static, Async>;
type Output = Vec<u8, OUTPUT_BYTES>;

fn situation() -> Situation {
    Situation { now_us: now_us(), busy: network::busy(), ip: link::now().ip }
}

/// Runs Improv for ever.
#[embassy_executor::task]
pub(crate) async fn run(mut port: Port, mut store: NetworkStore, mut saved: Option<Credentials>) -> ! {
    let page = option_env!("ATOM_CONTROL_PAGE").unwrap_or("");
    let mut improv = Improv::new(Device { version: LEVEL.version(), page });
    let mut input = [0; 64];
    loop {
        let mut output = Output::new();
        match select(Read::read(&mut port, &mut input), Timer::after(LOOK_PERIOD)).await {
            Either::First(Ok(count)) => {
                // Each command is done and answered before the next byte is looked at.
                for byte in &input[..count] {
                    let action = improv.receive(*byte, situation(), &mut |packet| keep(&mut output, packet));
                    write(&mut port, &mut output).await;
                    if let Some(action) = action {
                        act(action, &mut port, &mut store, &mut saved).await;
                    }
                }
            }
            // Broken bytes break a packet, which its checksum shows.
            Either::First(Err(_)) => {}
            Either::Second(()) => {
                let action = improv.tick(situation(), &mut |packet| keep(&mut output, packet));
                write(&mut port, &mut output).await;
                if let Some(action) = action {
                    act(action, &mut port, &mut store, &mut saved).await;
                }
            }
        }
    }
}

async fn act(action: Action, port: &mut Port, store: &mut NetworkStore, saved: &mut Option<Credentials>) {
    match action {
        Action::Join(credentials) => {
            link::change(|link| (link.ip, link.has_network) = (None, true));
            wifi::COMMANDS.send(wifi::Command::Join(Some(credentials))).await;
        }
        Action::Save(credentials) => {
            // Writing parks the control side.
            while network::busy() {
                Timer::after(LOOK_PERIOD).await;
            }
            if let Err(error) = store.save(&credentials).await {
                esp_println::println!("the network is not saved: {error:?}");
            }
            *saved = Some(credentials);
        }
        Action::GoBack => {
            link::change(|link| link.has_network = saved.is_some());
            wifi::COMMANDS.send(wifi::Command::Join(saved.clone())).await;
        }
        Action::Scan => scan(port).await,
    }
}

/// Two packets at most answer one command.
fn keep(output: &mut Output, packet: &Vec<u8, PACKET_BYTES>) {
    let _taken = output.extend_from_slice(packet);
}

async fn write(port: &mut Port, bytes: &mut Output) {
    if bytes.is_empty() {
        return;
    }
    // Nobody at the other end is no error.
    let _written = port.write_all(bytes).await;
    bytes.clear();
}

async fn scan(port: &mut Port) {
    wifi::SCANNED.reset();
    wifi::COMMANDS.send(wifi::Command::Scan).await;
    let mut output = Output::new();
    if let Either::First(networks) = select(wifi::SCANNED.wait(), Timer::after(SCAN_TIMEOUT)).await {
        for network in &networks {
            Improv::network(&network.ssid, network.rssi_dbm, network.secured, &mut |packet| {
                keep(&mut output, packet);
            });
            write(port, &mut output).await;
        }
    }
    Improv::scanned(&mut |packet| keep(&mut output, packet));
    write(port, &mut output).await;
}
