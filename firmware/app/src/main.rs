//! The firmware of the ATOM: `firmware-core` on the ESP32.
//!
//! Core 1 runs the control side alone; core 0 runs everything else in one executor: the network side every
//! millisecond, the IMU every two, sockets, WiFi, Improv, the LED matrix. The two meet in [`mailbox`].
//!
//! Built for the ESP32-C3 the same source has one core and other pins: it proves the build, it does not drive a robot.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_net::{DhcpConfig, StackResources};
use esp_hal::clock::CpuClock;
use esp_hal::gpio::{Input, InputConfig, Level, Pull};
use esp_hal::i2c::master::{Config as I2cConfig, I2c};
use esp_hal::rmt::{Rmt, TxChannelConfig, TxChannelCreator};
use esp_hal::rng::Rng;
use esp_hal::time::{Duration, Rate};
use esp_hal::timer::timg::{MwdtStage, TimerGroup};
use esp_hal::uart::{Config as UartConfig, Uart};
use esp_radio::wifi::{ControllerConfig, Interface, WifiController};
use firmware_core::improv::Credentials;
use firmware_core::protocol::ApiLevel;
use static_cell::StaticCell;

mod control;
mod flash;
mod imu;
mod led_matrix;
mod link;
mod mailbox;
mod memory;
mod network;
mod queues;
mod serial;
mod sockets;
mod update;
mod wifi;

use atom_board::watch;

esp_bootloader_esp_idf::esp_app_desc!();

/// What the status log calls this build.
pub(crate) const BUILD: &str = match option_env!("ATOM_BUILD") {
    Some(build) => build,
    None => "local",
};
/// The API level of this firmware.
pub(crate) const LEVEL: ApiLevel = ApiLevel::V5_1;
/// Sockets: UDP, log, mDNS, DHCP, the WebSockets, updates, one spare.
const SOCKETS: usize = 4 + queues::WEB_SOCKETS + 2;

/// The ATOM's pins; on the ESP32-C3 some that it has.
macro_rules! pin {
    ($p:ident, $atom:ident, $c3:ident) => {{
        #[cfg(feature = "esp32")]
        let pin = $p.$atom;
        #[cfg(feature = "esp32c3")]
        let pin = $p.$c3;
        pin
    }};
}

/// A network that a lab build brings along.
fn compiled_in() -> Option<Credentials> {
    if !cfg!(feature = "lab") {
        return None;
    }
    let ssid = option_env!("ATOM_WIFI_SSID")?;
    let password = option_env!("ATOM_WIFI_PASSWORD").unwrap_or("");
    Some(Credentials { ssid: ssid.try_into().ok()?, password: password.try_into().ok()? })
}

/// What the network stack keeps of each socket.
static RESOURCES: StaticCell<StackResources<SOCKETS>> = StaticCell::new();

#[esp_rtos::main]
async fn main(spawner: Spawner) -> ! {
    let p = esp_hal::init(esp_hal::Config::default().with_cpu_clock(CpuClock::max()));
    esp_alloc::heap_allocator!(size: memory::HEAP_BYTES);
    let timers = TimerGroup::new(p.TIMG0);
    let control_timers = TimerGroup::new(p.TIMG1);
    esp_rtos::start(timers.timer0, p.FROM_CPU_INTR0);

    let (mut watchdog, mut control_watchdog) = (timers.wdt, control_timers.wdt);
    let timeout = Duration::from_micros(watch::TIMEOUT_US);
    watchdog.set_timeout(MwdtStage::Stage0, timeout);
    control_watchdog.set_timeout(MwdtStage::Stage0, timeout);
    watchdog.enable();
    control_watchdog.enable();

    let bus_config = UartConfig::default().with_baudrate(control::BUS_BAUD);
    let bus = Uart::new(p.UART1, bus_config)
        .expect("1 Mbaud is a rate of the UART")
        .with_rx(pin!(p, GPIO19, GPIO5))
        .with_tx(pin!(p, GPIO22, GPIO4));
    let side = control::ControlSide::new(control::Board::new(bus), control_watchdog);
    #[cfg(feature = "esp32")]
    {
        start_control(p.CPU_CTRL, side);
        // SAFETY: this core runs on the program's stack, core 1 on that of the control side, and the linker puts nothing
        // there: no `static` asks for reclaimed RAM.
        unsafe { memory::take_back() };
    }
    #[cfg(feature = "esp32c3")]
    spawner.spawn(control::run(side).expect("one control side"));

    let imu = I2c::new(p.I2C0, I2cConfig::default().with_frequency(Rate::from_khz(400)))
        .expect("400 kHz is a rate of I2C")
        .with_sda(pin!(p, GPIO25, GPIO18))
        .with_scl(pin!(p, GPIO21, GPIO10))
        .into_async();
    let rmt = Rmt::new(p.RMT, Rate::from_mhz(80)).expect("80 MHz is the RMT's clock").into_async();
    let pixels = rmt
        .channel0
        .configure_tx(
            &TxChannelConfig::default()
                .with_clk_divider(4)
                .with_idle_output(true)
                .with_idle_output_level(Level::Low),
        )
        .expect("a divider of 4 is allowed")
        .with_pin(pin!(p, GPIO27, GPIO8));
    let button = Input::new(pin!(p, GPIO39, GPIO9), InputConfig::default().with_pull(Pull::None));
    let usb = Uart::new(p.UART0, UartConfig::default().with_baudrate(115_200))
        .expect("115,200 baud is a rate of the UART")
        .with_rx(pin!(p, GPIO3, GPIO20))
        .with_tx(pin!(p, GPIO1, GPIO21))
        .into_async();

    flash::give(open_flash(p.FLASH));
    let mut store = flash::NetworkStore::find();
    let network = store.network().await.or_else(compiled_in);
    link::change(|link| link.has_network = network.is_some());

    let controller = WifiController::new(p.WIFI, ControllerConfig::default())
        .expect("WiFi starts: the heap is empty and the radio is free");
    let rng = Rng::new();
    let seed = u64::from(rng.random()) << 32 | u64::from(rng.random());
    let mut dhcp = DhcpConfig::default();
    dhcp.hostname = "mycobot-atom".try_into().ok();
    let config = embassy_net::Config::dhcpv4(dhcp);
    let resources = RESOURCES.init_with(StackResources::new);
    let (stack, runner) = embassy_net::new(Interface::station(), config, resources, seed);

    spawner.spawn(network::run(button, watchdog).expect("one network side"));
    spawner.spawn(imu::run(imu).expect("one IMU"));
    spawner.spawn(led_matrix::run(pixels).expect("one matrix"));
    spawner.spawn(wifi::stack(runner).expect("one stack"));
    spawner.spawn(wifi::address(stack).expect("one address"));
    spawner.spawn(wifi::run(controller, network.clone()).expect("one radio"));
    spawner.spawn(serial::run(usb, store, network).expect("one serial port"));
    spawner.spawn(sockets::udp(stack).expect("one UDP socket"));
    spawner.spawn(sockets::log(stack).expect("one log"));
    spawner.spawn(sockets::name(stack).expect("one name"));
    for place in 0..queues::WEB_SOCKETS as u8 {
        spawner.spawn(sockets::web(stack, place).expect("four WebSockets"));
    }
    #[cfg(feature = "lab")]
    spawner.spawn(update::run(stack).expect("one update"));
    core::future::pending().await
}

/// Starts the control side on core 1, which does nothing else, and waits until it runs.
#[cfg(feature = "esp32")]
fn start_control(cores: esp_hal::peripherals::CPU_CTRL<'static>, side: control::ControlSide) {
    use core::sync::atomic::{AtomicBool, Ordering};

    use esp_hal::system::{CpuControl, Stack};
    static STACK: static_cell::ConstStaticCell<Stack<{ memory::CONTROL_STACK_BYTES }>> =
        static_cell::ConstStaticCell::new(Stack::new());
    static RUNS: AtomicBool = AtomicBool::new(false);
    let started = CpuControl::new(cores).start_app_core(STACK.take(), move || {
        RUNS.store(true, Ordering::Release);
        side.run()
    });
    // Dropping the guard would park the core.
    core::mem::forget(started.expect("core 1 is started once"));
    // Until then it uses the ROM's stack. One that never comes is a matter for its watchdog.
    while !RUNS.load(Ordering::Acquire) {}
}

#[cfg(feature = "esp32")]
fn open_flash(flash: esp_hal::peripherals::FLASH<'static>) -> esp_storage::FlashStorage<'static> {
    esp_storage::FlashStorage::new(flash).multicore_auto_park()
}

#[cfg(feature = "esp32c3")]
fn open_flash(flash: esp_hal::peripherals::FLASH<'static>) -> esp_storage::FlashStorage<'static> {
    esp_storage::FlashStorage::new(flash)
}

/// A panic restarts into booting, which holds the pose.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    esp_println::println!("{info}");
    esp_hal::system::software_reset()
}
