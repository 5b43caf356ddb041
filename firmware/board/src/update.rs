//! A firmware update over TCP: who may send one, and whether it came whole. Sans-IO.
//!
//! The ATOM sends a nonce of 16 bytes. The sender answers with the size (u32, little-endian), the SHA-256 of the
//! image and an HMAC-SHA-256 under the password over nonce, size and digest; the ATOM answers `+` or `-` and a
//! reason; the image follows; the ATOM answers once more. The password never goes over the air.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// TCP port.
pub const PORT: u16 = 3232;
/// Bytes of the nonce.
pub const NONCE_BYTES: usize = 16;
/// Bytes of a slot for an image.
pub const SLOT_BYTES: u32 = 0x1E_0000;
const DIGEST_BYTES: usize = 32;
/// Bytes of the sender's announcement.
pub const ANNOUNCEMENT_BYTES: usize = 4 + 2 * DIGEST_BYTES;

/// Why an update is refused or failed. The message goes to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateError {
    /// The announcement was made with another password.
    Password,
    /// The image is empty or larger than the slot.
    Size,
    /// The robot plays, moves or boots.
    Busy,
    /// More bytes came than announced, or other bytes.
    Digest,
    /// The connection ended early, or nothing came for 10 s.
    Incomplete,
    /// The flash failed.
    Flash,
}

impl UpdateError {
    /// What was wrong and what to do.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Password => "the password is wrong: use the one of the build that runs",
            Self::Size => "the image is empty or larger than the slot of 1,966,080 bytes",
            Self::Busy => "the robot boots, moves or plays: stop it and try again",
            Self::Digest => "the image differs from its announced SHA-256: send it again",
            Self::Incomplete => "the image came only in part: send it again",
            Self::Flash => "writing the flash failed: the old firmware goes on",
        }
    }
}

/// What the sender announced, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announcement {
    /// Size of the image (bytes).
    pub size: u32,
    digest: [u8; DIGEST_BYTES],
}

/// Checks an announcement.
///
/// # Errors
/// [`UpdateError::Password`], [`UpdateError::Size`].
pub fn check(
    announcement: &[u8; ANNOUNCEMENT_BYTES],
    nonce: &[u8; NONCE_BYTES],
    password: &str,
) -> Result<Announcement, UpdateError> {
    let (told, code) = announcement.split_at(4 + DIGEST_BYTES);
    let (size, digest) = told.split_at(4);
    let mut mac = Hmac::<Sha256>::new_from_slice(password.as_bytes()).map_err(|_| UpdateError::Password)?;
    mac.update(nonce);
    mac.update(told);
    // Takes the same time whatever differs.
    mac.verify_slice(code).map_err(|_| UpdateError::Password)?;
    let size = size.try_into().map_or(0, u32::from_le_bytes);
    if size == 0 || size > SLOT_BYTES {
        return Err(UpdateError::Size);
    }
    let digest = digest.try_into().map_err(|_| UpdateError::Digest)?;
    Ok(Announcement { size, digest })
}

/// An image on its way.
#[derive(Debug)]
pub struct Image {
    announced: Announcement,
    received: u32,
    hasher: Sha256,
}

impl Image {
    /// An image of which nothing came yet.
    pub fn new(announced: Announcement) -> Self {
        Self { announced, received: 0, hasher: Sha256::new() }
    }

    /// Bytes that are still to come.
    pub fn missing(&self) -> u32 {
        self.announced.size - self.received
    }

    /// Counts and digests the next bytes.
    ///
    /// # Errors
    /// [`UpdateError::Digest`]: more than announced.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), UpdateError> {
        if bytes.len() as u64 > u64::from(self.missing()) {
            return Err(UpdateError::Digest);
        }
        self.received += bytes.len() as u32;
        self.hasher.update(bytes);
        Ok(())
    }

    /// The image is whole and the announced one.
    ///
    /// # Errors
    /// [`UpdateError::Incomplete`], [`UpdateError::Digest`].
    pub fn finish(self) -> Result<(), UpdateError> {
        if self.missing() > 0 {
            return Err(UpdateError::Incomplete);
        }
        let right = self.hasher.finalize().as_slice() == self.announced.digest;
        if right { Ok(()) } else { Err(UpdateError::Digest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: [u8; NONCE_BYTES] = [7; NONCE_BYTES];
    const IMAGE: &[u8] = b"an image of 24 bytes ...";

    /// As a sender makes it.
    fn announcement(image: &[u8], password: &str) -> [u8; ANNOUNCEMENT_BYTES] {
        let mut bytes = std::vec::Vec::from((image.len() as u32).to_le_bytes());
        bytes.extend(Sha256::digest(image));
        let mut mac = Hmac::<Sha256>::new_from_slice(password.as_bytes()).expect("any key");
        mac.update(&NONCE);
        mac.update(&bytes);
        bytes.extend(mac.finalize().into_bytes());
        bytes.try_into().expect("68 bytes")
    }

    #[test]
    fn the_announced_image_is_taken() {
        let announced = check(&announcement(IMAGE, "secret"), &NONCE, "secret").expect("right");
        assert_eq!(announced.size, 24);
        let mut image = Image::new(announced);
        for piece in IMAGE.chunks(7) {
            image.take(piece).expect("as announced");
        }
        assert_eq!(image.finish(), Ok(()));
    }

    #[test]
    fn another_password_nonce_or_size_is_refused() {
        let right = announcement(IMAGE, "secret");
        assert_eq!(check(&right, &NONCE, "Secret"), Err(UpdateError::Password));
        assert_eq!(check(&right, &[8; NONCE_BYTES], "secret"), Err(UpdateError::Password), "a replay");
        let mut changed = right;
        changed[0] += 1;
        assert_eq!(check(&changed, &NONCE, "secret"), Err(UpdateError::Password));
        assert_eq!(check(&announcement(b"", "secret"), &NONCE, "secret"), Err(UpdateError::Size));
        let largest = std::vec![0; SLOT_BYTES as usize];
        assert!(check(&announcement(&largest, "secret"), &NONCE, "secret").is_ok());
        let too_large = std::vec![0; SLOT_BYTES as usize + 1];
        assert_eq!(check(&announcement(&too_large, "secret"), &NONCE, "secret"), Err(UpdateError::Size));
    }

    #[test]
    fn slots_are_as_large_as_the_partition_table_says() {
        let table = include_str!("../../partitions.csv");
        let slots: std::vec::Vec<u32> = table
            .lines()
            .filter(|line| line.starts_with("ota_"))
            .filter_map(|line| line.rsplit_once("0x"))
            .filter_map(|(_, size)| u32::from_str_radix(size.trim(), 16).ok())
            .collect();
        assert_eq!(slots, [SLOT_BYTES, SLOT_BYTES]);
        let message = UpdateError::Size.message().replace(',', "");
        assert!(message.contains(&std::format!("{SLOT_BYTES} bytes")), "{message}");
    }

    #[test]
    fn an_image_that_is_cut_changed_or_too_long_fails() {
        let image = || Image::new(check(&announcement(IMAGE, "secret"), &NONCE, "secret").expect("right"));
        let mut cut = image();
        cut.take(&IMAGE[..20]).expect("a part");
        assert_eq!(cut.missing(), 4);
        assert_eq!(cut.finish(), Err(UpdateError::Incomplete));
        let mut changed = image();
        changed.take(b"an image of 25 bytes ...").expect("as long");
        assert_eq!(changed.finish(), Err(UpdateError::Digest));
        assert_eq!(image().take(&[0; 25]), Err(UpdateError::Digest));
    }
}
