//! WiFi: joins the saved network, or the compiled-in one, again every 15 s; joins and scans for Improv.

use embassy_futures::select::{Either, Either3, select, select3};
use embassy_net::{Runner, Stack};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Timer, with_timeout};
use esp_radio::wifi::scan::ScanConfig;
use esp_radio::wifi::sta::StationConfig;
use esp_radio::wifi::{
    AuthenticationMethod, AuthenticationMethodConfig, Config, Interface, PowerSaveMode, WifiController,
};
use firmware_core::improv::Credentials;
use heapless::{String, Vec};

use crate::link;

/// After a drop or a failed attempt the network is joined again after this time.
const REJOIN: Duration = Duration::from_secs(15);
/// The radio's answers can get lost: none is waited for longer.
const EVENT_TIMEOUT: Duration = Duration::from_secs(10);
/// The signal strength is read so often.
const RSSI_PERIOD: Duration = Duration::from_secs(1);
/// Networks that a scan reports.
const SCAN_NETWORKS: usize = 16;

/// What Improv asks of WiFi.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Join this network from now on; `None`: none.
    Join(Option<Credentials>),
    /// Scan, and answer in [`SCANNED`].
    Scan,
}

/// A network that a scan found.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    /// Its name.
    pub(crate) ssid: String<32>,
    /// Signal strength (dBm).
    pub(crate) rssi_dbm: i8,
    /// It wants a passphrase.
    pub(crate) secured: bool,
}

/// What is to be done next, in order.
pub(crate) static COMMANDS: Channel<CriticalSectionRawMutex, Command, 2> = Channel::new();
/// What the last scan found.
pub(crate) static SCANNED: Signal<CriticalSectionRawMutex, Vec<Network, SCAN_NETWORKS>> = Signal::new();

/// The network stack's own work.
#[embassy_executor::task]
pub(crate) async fn stack(mut runner: Runner<'static, Interface>) -> ! {
    runner.run().await
}

/// Keeps the address in [`link`] right.
#[embassy_executor::task]
pub(crate) async fn address(stack: Stack<'static>) -> ! {
    loop {
        stack.wait_config_up().await;
        let ip = stack.config_v4().map(|config| config.address.address().octets());
        link::change(|link| link.ip = ip);
        stack.wait_config_down().await;
        link::change(|link| link.ip = None);
    }
}

fn station(network: &Credentials) -> Option<Config> {
    let authentication = if network.password.is_empty() {
        AuthenticationMethodConfig::Open
    } else {
        AuthenticationMethodConfig::WpaWpa2Personal(network.password.as_str().try_into().ok()?)
    };
    let station = StationConfig::default()
        .with_ssid(network.ssid.as_str().try_into().ok()?)
        .with_authentication(authentication);
    Some(Config::Station(station))
}

/// Keeps the network joined, and does what Improv asks.
#[embassy_executor::task]
pub(crate) async fn run(mut controller: WifiController<'static>, first: Option<Credentials>) -> ! {
    let mut network = first;
    // Packets must not wait for the access point's next beacon.
    if let Err(error) = controller.set_power_saving(PowerSaveMode::None) {
        esp_println::println!("WiFi power save stays on: {error:?}");
    }
    loop {
        let command = match &network {
            Some(wanted) => join_and_stay(&mut controller, wanted).await,
            None => COMMANDS.receive().await,
        };
        match command {
            Command::Join(wanted) => {
                // Not connected is as good.
                let _left = with_timeout(EVENT_TIMEOUT, controller.disconnect_async()).await;
                network = wanted;
            }
            Command::Scan => SCANNED.signal(scan(&mut controller).await),
        }
    }
}

/// Joins a network, and again after drops, until a command comes.
async fn join_and_stay(controller: &mut WifiController<'static>, network: &Credentials) -> Command {
    // After a scan it may still be joined.
    if !controller.is_connected()
        && let Some(config) = station(network)
        && let Err(error) = controller.set_config(&config)
    {
        esp_println::println!("WiFi refuses the settings of {}: {error:?}", network.ssid);
    }
    // A drop is one whoever sees it first: the event, or a look in between.
    let mut joined = controller.is_connected();
    loop {
        if !controller.is_connected() {
            if joined {
                link::change(|link| link.drops += 1);
                joined = false;
                if let Either::Second(command) = select(Timer::after(REJOIN), COMMANDS.receive()).await {
                    return command;
                }
            }
            let connect = with_timeout(EVENT_TIMEOUT, controller.connect_async());
            match select(connect, COMMANDS.receive()).await {
                Either::First(Ok(Ok(_))) => joined = true,
                Either::First(Ok(Err(_)) | Err(_)) => {
                    match select(Timer::after(REJOIN), COMMANDS.receive()).await {
                        Either::First(()) => continue,
                        Either::Second(command) => return command,
                    }
                }
                Either::Second(command) => return command,
            }
        }
        let wait =
            select3(controller.wait_for_disconnect_async(), Timer::after(RSSI_PERIOD), COMMANDS.receive());
        match wait.await {
            // Looked at above.
            Either3::First(_) => {}
            Either3::Second(()) => {
                let rssi_dbm = controller.rssi().map_or(0, |dbm| dbm as i8);
                link::change(|link| link.rssi_dbm = rssi_dbm);
            }
            Either3::Third(command) => return command,
        }
    }
}

async fn scan(controller: &mut WifiController<'static>) -> Vec<Network, SCAN_NETWORKS> {
    if !controller.is_connected() {
        // The radio does not scan while it tries to join.
        let _left = with_timeout(EVENT_TIMEOUT, controller.disconnect_async()).await;
    }
    let config = ScanConfig::default().with_max(SCAN_NETWORKS);
    let found = with_timeout(EVENT_TIMEOUT, controller.scan_async(&config)).await;
    let networks = found.into_iter().flatten().flatten();
    networks
        .filter_map(|point| {
            let ssid = String::try_from(point.ssid.as_str()).ok().filter(|ssid| !ssid.is_empty())?;
            let secured = !matches!(point.auth_method, None | Some(AuthenticationMethod::None));
            Some(Network { ssid, rssi_dbm: point.signal_strength, secured })
        })
        .take(SCAN_NETWORKS)
        .collect()
}
