//! The recorded inputs, packed into the program by the build script: see its first comment for the format.

/// Rows of `COLUMNS` numbers.
#[derive(Debug, Clone, Copy)]
pub struct Table<const COLUMNS: usize>(pub &'static [u8]);

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// The rows, in the order of the file.
    pub fn rows(self) -> impl Iterator<Item = [f32; COLUMNS]> {
        let (head, body) = self.0.split_at_checked(4).unwrap_or((&[], &[]));
        // A table packed with another number of columns would be read askew: then it has no rows, which shows.
        let rows = if head == (COLUMNS as u32).to_le_bytes() { body } else { &[] };
        rows.chunks_exact(4 * COLUMNS).map(|row| {
            let mut values = row.chunks_exact(4).map(|value| word(value).map_or(0.0, f32::from_bits));
            core::array::from_fn(|_| values.next().unwrap_or(0.0))
        })
    }
}

/// Byte strings.
#[derive(Debug, Clone, Copy)]
pub struct Messages(pub &'static [u8]);

impl Messages {
    /// The byte strings, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = &'static [u8]> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let (length, tail) = rest.split_at_checked(4)?;
            let (message, tail) = tail.split_at_checked(word(length)? as usize)?;
            rest = tail;
            Some(message)
        })
    }
}

fn word(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

macro_rules! packed {
    ($file:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $file))
    };
}

/// x of the minimum-jerk position.
pub const MIN_JERK: Table<1> = Table(packed!("minjerk.bin"));
/// n, start, goal of moves.
pub const MOVES: Table<15> = Table(packed!("moves.bin"));
/// step, dt, n, target, q, v.
pub const JOG: Table<24> = Table(packed!("jog.bin"));
/// step, dt, n, vmax, stop, goal, q, v.
pub const TRACK: Table<26> = Table(packed!("track.bin"));
/// Parameters of the test signals.
pub const SIGNAL_PARAMS: Messages = Messages(packed!("signal_params.bin"));
/// Start poses of the test signals.
pub const SIGNAL_STARTS: Table<6> = Table(packed!("signal_starts.bin"));
/// set, t of the test signals.
pub const SIGNAL_TIMES: Table<2> = Table(packed!("signal_times.bin"));
/// Parameters on and over every limit.
pub const SIGNAL_VALIDATE: Messages = Messages(packed!("signal_validate.bin"));
/// tcp, q of poses.
pub const FORWARD: Table<7> = Table(packed!("fk.bin"));
/// tcp, q of Jacobians.
pub const JACOBIAN: Table<7> = Table(packed!("jacobian.bin"));
/// step, tcp, tool, vmax, dt, want, q, qd of the end-effector JOG.
pub const TWIST: Table<23> = Table(packed!("twist.bin"));
/// tcp, tool, vmax, dt, want, q, qd, v, target rotation and position, sigma, its age.
pub const TWIST_SINGLE: Table<42> = Table(packed!("twist_single.bin"));
/// Example messages of the protocol.
pub const PROTOCOL: Messages = Messages(packed!("protocol.bin"));
/// Inputs of the CRC.
pub const CRC: Messages = Messages(packed!("crc32c.bin"));
