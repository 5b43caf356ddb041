//! Improv on the USB serial port: bytes in and out, and what the core asks for.

use embassy_futures::select::{Either, select};
use embassy_time::{Duration, Timer};
use embedded_io_async::{Read, Write};
use esp_hal::Async;
use esp_hal::uart::Uart;
use firmware_core::improv::packet::PACKET_BYTES;
use firmware_core::improv::{Action, Credentials, Device, Improv, Situation};
use heapless::Vec;

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

fn situation() -> Situation {
    Situation { now_us: now_us(), busy: network::busy(), ip: link::now().ip }
}

/// Runs Improv for ever.
#[embassy_executor::task]
pub(crate) async fn run(mut port: Port, mut store: NetworkStore, mut saved: Option<Credentials>) -> ! {
    let mut improv =
        Improv::new(Device { version: "5.1.0", page: option_env!("ATOM_CONTROL_PAGE").unwrap_or("") });
    let mut output = Vec::<u8, OUTPUT_BYTES>::new();
    let mut input = [0; 64];
    loop {
        let mut actions = Vec::<Action, 4>::new();
        let mut send = |packet: &Vec<u8, PACKET_BYTES>| {
            // Two packets at most answer one command.
            let _taken = output.extend_from_slice(packet);
        };
        match select(Read::read(&mut port, &mut input), Timer::after(LOOK_PERIOD)).await {
            Either::First(Ok(count)) => {
                for byte in &input[..count] {
                    // More commands than that in 64 bytes do not fit.
                    let _taken =
                        improv.receive(*byte, situation(), &mut send).map(|action| actions.push(action));
                }
            }
            // Broken bytes break a packet, which its checksum shows.
            Either::First(Err(_)) => {}
            Either::Second(()) => {
                let _taken = improv.tick(situation(), &mut send).map(|action| actions.push(action));
            }
        }
        write(&mut port, &mut output).await;
        for action in actions {
            match action {
                Action::Join(credentials) => {
                    link::change(|link| (link.ip, link.saved) = (None, true));
                    wifi::COMMAND.signal(wifi::Command::Join(Some(credentials)));
                }
                Action::Save(credentials) => {
                    // Writing parks the control side.
                    while network::busy() {
                        Timer::after(LOOK_PERIOD).await;
                    }
                    if let Err(error) = store.save(&credentials).await {
                        esp_println::println!("the network is not saved: {error:?}");
                    }
                    saved = Some(credentials);
                }
                Action::GoBack => {
                    link::change(|link| link.saved = saved.is_some());
                    wifi::COMMAND.signal(wifi::Command::Join(saved.clone()));
                }
                Action::Scan => scan(&mut port).await,
            }
        }
    }
}

async fn write(port: &mut Port, bytes: &mut Vec<u8, OUTPUT_BYTES>) {
    // Nobody at the other end is no error.
    let _written = port.write_all(bytes).await;
    bytes.clear();
}

async fn scan(port: &mut Port) {
    wifi::SCANNED.reset();
    wifi::COMMAND.signal(wifi::Command::Scan);
    let mut output = Vec::<u8, OUTPUT_BYTES>::new();
    if let Either::First(networks) = select(wifi::SCANNED.wait(), Timer::after(SCAN_TIMEOUT)).await {
        for network in &networks {
            Improv::network(&network.ssid, network.rssi_dbm, network.secured, &mut |packet| {
                let _taken = output.extend_from_slice(packet);
            });
            write(port, &mut output).await;
        }
    }
    Improv::scanned(&mut |packet| {
        let _taken = output.extend_from_slice(packet);
    });
    write(port, &mut output).await;
}
