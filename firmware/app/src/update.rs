//! Firmware updates over the network, in lab builds only: two slots, a password, the bus off meanwhile.

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;

/// What an update asks of the network side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "only a lab build takes updates"))]
pub(crate) enum Request {
    /// It wants to begin.
    Begin,
    /// It failed: bus on again.
    Failed,
}

static REQUEST: Signal<CriticalSectionRawMutex, Request> = Signal::new();
static ANSWER: Signal<CriticalSectionRawMutex, bool> = Signal::new();

/// What an update asks now.
pub(crate) fn take_request() -> Option<Request> {
    REQUEST.try_take()
}

/// An update may begin, or not.
pub(crate) fn answer(may_begin: bool) {
    ANSWER.signal(may_begin);
}

#[cfg(feature = "lab")]
pub(crate) use lab::run;

#[cfg(feature = "lab")]
mod lab {
    use atom_board::update::{
        ANNOUNCEMENT_BYTES, Announcement, Image, NONCE_BYTES, PORT, UpdateError, check,
    };
    use embassy_net::Stack;
    use embassy_net::tcp::TcpSocket;
    use embassy_time::{Duration, Timer, with_timeout};
    use embedded_io_async::{Read, Write};
    use esp_bootloader_esp_idf::ota::OtaImageState;
    use esp_bootloader_esp_idf::ota_updater::OtaUpdater;
    use esp_bootloader_esp_idf::partitions::{
        AppPartitionSubType, PARTITION_TABLE_MAX_LEN, PartitionType, read_partition_table,
    };
    use esp_hal::rng::Rng;
    use firmware_core::shared::State;

    use super::{ANSWER, REQUEST, Request};
    use crate::{flash, network};

    /// The password, from the build's environment.
    const PASSWORD: &str =
        env!("ATOM_OTA_PASSWORD", "a lab build needs ATOM_OTA_PASSWORD in its environment");
    const SECTOR_BYTES: usize = 4096;
    /// Nothing for so long ends an update.
    const TIMEOUT: Duration = Duration::from_secs(10);

    /// Serves one sender after another.
    #[embassy_executor::task]
    pub(crate) async fn run(stack: Stack<'static>) -> ! {
        let (mut receive_bytes, mut send_bytes) = ([0; 1536], [0; 256]);
        loop {
            let mut socket = TcpSocket::new(stack, &mut receive_bytes, &mut send_bytes);
            socket.set_timeout(Some(TIMEOUT));
            if socket.accept(PORT).await.is_err() {
                continue;
            }
            let outcome = receive(&mut socket).await;
            let message = outcome.err().map_or("", UpdateError::message);
            let sign: &[u8] = if outcome.is_ok() { b"+" } else { b"-" };
            let _told = socket.write_all(sign).await;
            let _told = socket.write_all(message.as_bytes()).await;
            let _told = with_timeout(TIMEOUT, socket.flush()).await;
            if outcome.is_ok() {
                // Into booting, which holds the pose.
                esp_hal::system::software_reset();
            }
            socket.close();
            Timer::after_millis(100).await;
        }
    }

    async fn receive(socket: &mut TcpSocket<'_>) -> Result<(), UpdateError> {
        let mut nonce = [0; NONCE_BYTES];
        Rng::new().read(&mut nonce);
        socket.write_all(&nonce).await.map_err(|_| UpdateError::Incomplete)?;
        let mut announcement = [0; ANNOUNCEMENT_BYTES];
        fill(socket, &mut announcement).await?;
        let announced = check(&announcement, &nonce, PASSWORD)?;
        REQUEST.signal(Request::Begin);
        if !ANSWER.wait().await {
            return Err(UpdateError::Busy);
        }
        // The bus is off now: whatever fails, it must come on again.
        let written = begun(socket, announced).await;
        if written.is_err() {
            REQUEST.signal(Request::Failed);
        }
        written
    }

    async fn begun(socket: &mut TcpSocket<'_>, announced: Announcement) -> Result<(), UpdateError> {
        // The bus is off before the flash parks the control side. A press of the button may come before it.
        let off = async {
            while network::state() != State::Ota {
                Timer::after_millis(10).await;
            }
        };
        with_timeout(TIMEOUT, off).await.map_err(|_| UpdateError::Busy)?;
        socket.write_all(b"+").await.map_err(|_| UpdateError::Incomplete)?;
        write(socket, announced).await
    }

    /// The slot of the program that runs, as the flash is mapped.
    fn running_slot(
        flash: &mut esp_storage::FlashStorage<'static>,
        table: &mut [u8; PARTITION_TABLE_MAX_LEN],
    ) -> Option<AppPartitionSubType> {
        let booted = read_partition_table(flash, table).ok()?.booted_partition().ok()??;
        match booted.partition_type() {
            PartitionType::App(slot) => Some(slot),
            _no_program => None,
        }
    }

    async fn fill(socket: &mut TcpSocket<'_>, buffer: &mut [u8]) -> Result<(), UpdateError> {
        match with_timeout(TIMEOUT, socket.read_exact(buffer)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(UpdateError::Incomplete),
        }
    }

    /// Writes the image into the slot that is not running, sector by sector, and makes it the next one.
    async fn write(socket: &mut TcpSocket<'_>, announced: Announcement) -> Result<(), UpdateError> {
        let mut flash = flash::take().ok_or(UpdateError::Flash)?;
        let written = write_slot(socket, announced, &mut flash).await;
        flash::give(flash);
        written
    }

    async fn write_slot(
        socket: &mut TcpSocket<'_>,
        announced: Announcement,
        flash: &mut esp_storage::FlashStorage<'static>,
    ) -> Result<(), UpdateError> {
        let mut table = [0; PARTITION_TABLE_MAX_LEN];
        let running = running_slot(flash, &mut table).ok_or(UpdateError::Flash)?;
        let mut updater = OtaUpdater::new(flash, &mut table).map_err(|_| UpdateError::Flash)?;
        // Before the first update nothing says which slot runs: the next one would be that one.
        if updater.selected_partition().map_err(|_| UpdateError::Flash)? != running {
            let mut selected = updater.ota_data().map_err(|_| UpdateError::Flash)?;
            selected.set_current_app_partition(running).map_err(|_| UpdateError::Flash)?;
        }
        let mut image = Image::new(announced);
        let mut sector = [0xFF; SECTOR_BYTES];
        {
            let (mut slot, next) = updater.next_partition().map_err(|_| UpdateError::Flash)?;
            if next == running {
                return Err(UpdateError::Flash);
            }
            let mut at = 0;
            while image.missing() > 0 {
                let length = SECTOR_BYTES.min(image.missing() as usize);
                sector.fill(0xFF);
                fill(socket, &mut sector[..length]).await?;
                image.take(&sector[..length])?;
                let end = at + SECTOR_BYTES as u32;
                slot.erase(at, end).map_err(|_| UpdateError::Flash)?;
                slot.write(at, &sector).map_err(|_| UpdateError::Flash)?;
                at = end;
            }
        }
        image.finish()?;
        updater.activate_next_partition().map_err(|_| UpdateError::Flash)?;
        updater.set_current_ota_state(OtaImageState::New).map_err(|_| UpdateError::Flash)
    }
}
