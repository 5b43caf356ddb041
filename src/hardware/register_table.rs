//! The registers of the seven servos as data: address, access and power-up value, read from `registers.csv` when
//! this file is compiled. A broken table does not compile.

use firmware_core::joints::JOINTS;

/// Registers of a servo, addresses 0–86.
pub const REGISTERS: usize = 87;
/// Registers below this address are EEPROM.
pub const EEPROM_END: usize = 40;

/// Who may change a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No such register: reads 0; a write is acknowledged and ignored.
    None,
    /// The servo alone; a write is acknowledged and ignored.
    Read,
    /// Everybody; register 55 decides whether a write outlives the next power cycle.
    Eeprom,
    /// Everybody, until the next power cycle.
    Ram,
    /// As RAM. Settings of the factory; the controller leaves them alone.
    Factory,
}

/// All registers.
#[derive(Debug)]
pub struct Table {
    /// Access of each address.
    pub access: [Access; REGISTERS],
    /// Power-up value of each address, per joint.
    pub power_up: [[u8; REGISTERS]; JOINTS],
}

/// The table of `registers.csv`, recorded from the robot's servos.
pub static TABLE: Table = parse(include_bytes!("registers.csv"));

const fn parse(csv: &[u8]) -> Table {
    let mut table = Table { access: [Access::None; REGISTERS], power_up: [[0; REGISTERS]; JOINTS] };
    let mut at = next_line(csv, 0);
    while at < csv.len() {
        let (address, end) = number(csv, at);
        let address = address as usize;
        let access_at = next_field(csv, next_field(csv, end));
        table.access[address] = access(csv, access_at);
        at = next_field(csv, access_at);
        let mut joint = 0;
        while joint < JOINTS {
            let (value, end) = number(csv, at);
            assert!(value < 256, "a register holds one byte");
            table.power_up[joint][address] = value as u8;
            joint += 1;
            at = if joint < JOINTS { next_field(csv, end) } else { next_line(csv, end) };
        }
    }
    table
}

const fn access(csv: &[u8], at: usize) -> Access {
    match (csv[at], csv[at + 1]) {
        (b'r', b'e') => Access::Read,
        (b'e', _) => Access::Eeprom,
        (b'r', b'a') => Access::Ram,
        (b'f', _) => Access::Factory,
        _ => panic!("access is read, eeprom, ram or factory"),
    }
}

const fn number(csv: &[u8], mut at: usize) -> (u32, usize) {
    assert!(csv[at].is_ascii_digit(), "a number is expected here");
    let mut value = 0;
    while at < csv.len() && csv[at].is_ascii_digit() {
        value = value * 10 + (csv[at] - b'0') as u32;
        at += 1;
    }
    (value, at)
}

/// Where the field after the next comma starts.
const fn next_field(csv: &[u8], mut at: usize) -> usize {
    while csv[at] != b',' {
        assert!(csv[at] != b'\n', "a row has an address, a name, an access and seven values");
        at += 1;
    }
    at + 1
}

const fn next_line(csv: &[u8], mut at: usize) -> usize {
    while at < csv.len() && csv[at] != b'\n' {
        at += 1;
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_what_the_file_says() {
        let row = |address: usize| TABLE.power_up.map(|values| values[address]);
        assert_eq!(row(0), [3; 7]);
        assert_eq!(row(5), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(row(21), [32, 32, 32, 32, 32, 32, 150]);
        assert_eq!(row(31), [146, 102, 124, 29, 192, 76, 121]);
        assert_eq!(row(86), [1, 1, 1, 4, 5, 5, 5]);
        assert_eq!(row(75), [0; 7]);
    }

    #[test]
    fn access_follows_the_areas() {
        for (address, access) in TABLE.access.into_iter().enumerate() {
            let expected = match address {
                0..=4 | 56..=70 => Access::Read,
                5..=39 => Access::Eeprom,
                40..=55 => Access::Ram,
                71..=79 => Access::None,
                _ => Access::Factory,
            };
            assert_eq!(access, expected, "register {address}");
        }
    }
}
