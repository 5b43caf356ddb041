//! One description of a message's fields serves encoding and decoding.
//!
//! A message type names its fields once, in order, in [`Layout::fields`]; a [`Writer`] puts them into bytes,
//! a [`Reader`] takes them out of bytes.

use heapless::Vec;

/// Where fields go to or come from.
pub trait Fields {
    /// A field of one byte.
    fn u8(&mut self, value: &mut u8);

    /// The message code. Whoever decodes has chosen the message by it.
    fn code(&mut self, code: u8) {
        let mut value = code;
        self.u8(&mut value);
    }

    /// A field of two bytes.
    fn u16(&mut self, value: &mut u16) {
        let mut bytes = value.to_le_bytes();
        bytes.iter_mut().for_each(|byte| self.u8(byte));
        *value = u16::from_le_bytes(bytes);
    }

    /// A field of four bytes.
    fn u32(&mut self, value: &mut u32) {
        let mut bytes = value.to_le_bytes();
        bytes.iter_mut().for_each(|byte| self.u8(byte));
        *value = u32::from_le_bytes(bytes);
    }

    /// A signed field of one byte.
    fn i8(&mut self, value: &mut i8) {
        let mut byte = value.cast_unsigned();
        self.u8(&mut byte);
        *value = byte.cast_signed();
    }

    /// A signed field of two bytes.
    fn i16(&mut self, value: &mut i16) {
        let mut raw = value.cast_unsigned();
        self.u16(&mut raw);
        *value = raw.cast_signed();
    }

    /// A field of one byte that is 0 or 1; any other value reads as true.
    fn bool(&mut self, value: &mut bool) {
        let mut byte = u8::from(*value);
        self.u8(&mut byte);
        *value = byte != 0;
    }

    /// Fields of one byte each.
    fn u8s(&mut self, values: &mut [u8]) {
        values.iter_mut().for_each(|value| self.u8(value));
    }

    /// Fields of two bytes each.
    fn u16s(&mut self, values: &mut [u16]) {
        values.iter_mut().for_each(|value| self.u16(value));
    }

    /// Signed fields of two bytes each.
    fn i16s(&mut self, values: &mut [i16]) {
        values.iter_mut().for_each(|value| self.i16(value));
    }
}

/// A message: its fields in order, the code first.
pub trait Layout: Clone {
    /// Names every field.
    fn fields(&mut self, fields: &mut impl Fields);

    /// The message's bytes. Panics in debug builds if they do not fit into `N`.
    fn encode<const N: usize>(&self) -> Vec<u8, N> {
        let mut writer = Writer(Vec::new());
        self.clone().fields(&mut writer);
        writer.0
    }

    /// Fills the message from bytes of exactly its length.
    ///
    /// # Errors
    /// [`WrongLength`] with fewer or more bytes.
    fn decode(mut self, bytes: &[u8]) -> Result<Self, WrongLength> {
        let mut reader = Reader { bytes, missing: 0 };
        self.fields(&mut reader);
        if reader.missing == 0 && reader.bytes.is_empty() { Ok(self) } else { Err(WrongLength) }
    }
}

/// The bytes are fewer or more than the message's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongLength;

impl core::fmt::Display for WrongLength {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the message has another length than its fields")
    }
}

/// Puts fields into bytes.
#[derive(Debug, Default)]
pub struct Writer<const N: usize>(Vec<u8, N>);

impl<const N: usize> Writer<N> {
    /// The bytes written.
    pub fn into_bytes(self) -> Vec<u8, N> {
        self.0
    }
}

impl<const N: usize> Fields for Writer<N> {
    fn u8(&mut self, value: &mut u8) {
        let pushed = self.0.push(*value);
        debug_assert!(pushed.is_ok(), "the buffer holds {N} bytes");
    }
}

/// Takes fields out of bytes; missing ones read as 0.
#[derive(Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
    missing: usize,
}

impl<'b> Reader<'b> {
    /// Reads `bytes`.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, missing: 0 }
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
            self.missing += 1;
        }
    }
}
