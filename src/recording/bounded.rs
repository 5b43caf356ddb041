//! A writer that stops at a size, for files that nobody watches.

use std::io::{self, Write};

/// Writes up to a limit, then refuses.
#[derive(Debug)]
pub struct Bounded<W> {
    inner: W,
    limit_bytes: u64,
    left_bytes: u64,
}

impl<W: Write> Bounded<W> {
    /// Lets `limit_bytes` through to `inner`.
    pub fn new(inner: W, limit_bytes: u64) -> Self {
        Self { inner, limit_bytes, left_bytes: limit_bytes }
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left_bytes {
            let message = format!("the file has reached its limit of {} bytes", self.limit_bytes);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let written = self.inner.write(bytes)?;
        self.left_bytes -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_refused_and_what_is_within_stays() {
        let mut bytes = Vec::new();
        let mut bounded = Bounded::new(&mut bytes, 5);
        assert!(bounded.write_all(b"abc").is_ok());
        assert_eq!(bounded.write_all(b"def").expect_err("6 bytes").kind(), io::ErrorKind::FileTooLarge);
        assert!(bounded.write_all(b"de").is_ok());
        assert_eq!(bytes, b"abcde");
    }
}
