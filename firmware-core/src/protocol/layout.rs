//! One description of a message's fields serves encoding and decoding.
//!
//! A message type names its fields once, in order, in [`Layout::fields`]. A [`Writer`] puts them into bytes,
//! a [`Reader`] takes them out of bytes. A message whose number of joints follows from its length is decoded
//! into a value that has that number already.

use heapless::Vec;

/// Where fields go to or come from.
pub trait Fields {
    /// A field of one byte.
    fn u8(&mut self, value: &mut u8);

    /// The message's code.
    fn code(&mut self, code: u8);

    /// A field of two bytes.
    fn u16(&mut self, value: &mut u16) {
        let mut bytes = value.to_le_bytes();
        for byte in &mut bytes {
            self.u8(byte);
        }
        *value = u16::from_le_bytes(bytes);
    }

    /// A field of four bytes.
    fn u32(&mut self, value: &mut u32) {
        let mut bytes = value.to_le_bytes();
        for byte in &mut bytes {
            self.u8(byte);
        }
        *value = u32::from_le_bytes(bytes);
    }

    /// A signed field of one byte.
    fn i8(&mut self, value: &mut i8) {
        let mut raw = value.cast_unsigned();
        self.u8(&mut raw);
        *value = raw.cast_signed();
    }

    /// A signed field of two bytes.
    fn i16(&mut self, value: &mut i16) {
        let mut raw = value.cast_unsigned();
        self.u16(&mut raw);
        *value = raw.cast_signed();
    }

    /// A field of one byte that is 0 or 1; any other value reads as true.
    fn bool(&mut self, value: &mut bool) {
        let mut raw = u8::from(*value);
        self.u8(&mut raw);
        *value = raw != 0;
    }

    /// Fields of one byte each.
    fn u8s(&mut self, values: &mut [u8]) {
        for value in values {
            self.u8(value);
        }
    }

    /// Fields of two bytes each.
    fn u16s(&mut self, values: &mut [u16]) {
        for value in values {
            self.u16(value);
        }
    }

    /// Signed fields of two bytes each.
    fn i16s(&mut self, values: &mut [i16]) {
        for value in values {
            self.i16(value);
        }
    }
}

/// A message: its fields in order, the code first.
pub trait Layout: Clone {
    /// Names every field.
    fn fields(&mut self, fields: &mut impl Fields);

    /// The message's bytes. `N` is the caller's promise that they fit; debug builds check it, release builds
    /// cut the message off.
    fn encode<const N: usize>(&self) -> Vec<u8, N> {
        let mut writer = Writer::default();
        self.clone().fields(&mut writer);
        debug_assert!(writer.fits(), "the message needs more than {N} bytes");
        writer.into_bytes()
    }

    /// Fills the message from the start of `bytes` and returns what follows it.
    ///
    /// # Errors
    /// [`WrongLength`] with fewer bytes than the fields need.
    fn decode_prefix(mut self, bytes: &[u8]) -> Result<(Self, &[u8]), WrongLength> {
        let mut reader = Reader::new(bytes);
        self.fields(&mut reader);
        if reader.fits() { Ok((self, reader.rest())) } else { Err(WrongLength) }
    }

    /// Fills the message from bytes of exactly its length.
    ///
    /// # Errors
    /// [`WrongLength`] with fewer or more bytes than the fields need.
    fn decode(self, bytes: &[u8]) -> Result<Self, WrongLength> {
        let (message, rest) = self.decode_prefix(bytes)?;
        if rest.is_empty() { Ok(message) } else { Err(WrongLength) }
    }
}

/// The bytes are fewer or more than the message's fields, or begin with another message's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongLength;

impl core::fmt::Display for WrongLength {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("expected a message's code and as many bytes as its fields need, found others")
    }
}

impl core::error::Error for WrongLength {}

/// Puts fields into bytes.
#[derive(Debug, Default)]
pub struct Writer<const N: usize> {
    bytes: Vec<u8, N>,
    overflowed: bool,
}

impl<const N: usize> Writer<N> {
    /// All fields fit into `N` bytes so far.
    pub fn fits(&self) -> bool {
        !self.overflowed
    }

    /// The bytes written, at most `N`.
    pub fn into_bytes(self) -> Vec<u8, N> {
        self.bytes
    }
}

impl<const N: usize> Fields for Writer<N> {
    fn u8(&mut self, value: &mut u8) {
        self.overflowed |= self.bytes.push(*value).is_err();
    }

    fn code(&mut self, mut code: u8) {
        self.u8(&mut code);
    }

    fn u16(&mut self, value: &mut u16) {
        self.overflowed |= self.bytes.extend_from_slice(&value.to_le_bytes()).is_err();
    }

    fn u32(&mut self, value: &mut u32) {
        self.overflowed |= self.bytes.extend_from_slice(&value.to_le_bytes()).is_err();
    }
}

/// Takes fields out of bytes; missing ones read as 0.
#[derive(Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
    fits: bool,
}

impl<'b> Reader<'b> {
    /// Reads `bytes`.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, fits: true }
    }

    /// No field was missing so far, and the code was the one expected.
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.bytes
    }
}

impl Fields for Reader<'_> {
    fn u8(&mut self, value: &mut u8) {
        if let Some((first, rest)) = self.bytes.split_first() {
            *value = *first;
            self.bytes = rest;
        } else {
            *value = 0;
            self.fits = false;
        }
    }

    fn code(&mut self, code: u8) {
        let mut found = 0;
        self.u8(&mut found);
        self.fits &= found == code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Sample {
        a: u8,
        b: u16,
        c: u32,
        d: i8,
        e: i16,
        f: bool,
    }

    impl Layout for Sample {
        fn fields(&mut self, fields: &mut impl Fields) {
            fields.code(0x55);
            fields.u8(&mut self.a);
            fields.u16(&mut self.b);
            fields.u32(&mut self.c);
            fields.i8(&mut self.d);
            fields.i16(&mut self.e);
            fields.bool(&mut self.f);
        }
    }

    const SAMPLE: Sample = Sample { a: 1, b: 0x0302, c: 0x0706_0504, d: -2, e: -3, f: true };
    const BYTES: [u8; 12] = [0x55, 1, 2, 3, 4, 5, 6, 7, 0xFE, 0xFD, 0xFF, 1];

    #[test]
    fn fields_are_little_endian_in_both_directions() {
        assert_eq!(SAMPLE.encode::<12>().as_slice(), &BYTES);
        assert_eq!(Sample::default().decode(&BYTES), Ok(SAMPLE));
    }

    #[test]
    fn a_byte_more_or_less_is_refused_and_a_prefix_keeps_the_rest() {
        let longer = [&BYTES[..], &[9]].concat();
        assert_eq!(Sample::default().decode(&BYTES[..11]), Err(WrongLength));
        assert_eq!(Sample::default().decode(&longer), Err(WrongLength));
        assert_eq!(Sample::default().decode_prefix(&longer), Ok((SAMPLE, &[9][..])));
    }

    #[test]
    fn another_code_is_refused() {
        let mut bytes = BYTES;
        bytes[0] = 0x56;
        assert_eq!(Sample::default().decode(&bytes), Err(WrongLength));
    }

    #[test]
    fn a_writer_says_that_a_message_does_not_fit() {
        let mut writer = Writer::<11>::default();
        SAMPLE.clone().fields(&mut writer);
        assert!(!writer.fits());
        assert!(writer.into_bytes().len() <= 11);
    }
}
