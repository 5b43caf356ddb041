//! The register file of a servo: power-up values, access, EEPROM.

use std::sync::LazyLock;

use firmware_core::joints::JOINTS;

/// Addresses a servo has.
pub const COUNT: usize = 128;

/// Addresses the simulated servo itself acts on. The controller's own list is in `firmware-core`.
pub mod address {
    /// Servo id.
    pub const ID: u8 = 5;
    /// Lower angle limit (2 bytes), followed by the upper one.
    pub const MIN_ANGLE: u8 = 9;
    /// Highest temperature (°C).
    pub const MAX_TEMPERATURE: u8 = 13;
    /// Highest voltage (0.1 V).
    pub const MAX_VOLTAGE: u8 = 14;
    /// Lowest voltage (0.1 V).
    pub const MIN_VOLTAGE: u8 = 15;
    /// Largest torque (2 bytes, 0.1 %).
    pub const MAX_TORQUE: u8 = 16;
    /// Phase; bit 4 = positions past one turn.
    pub const PHASE: u8 = 18;
    /// Protection current (2 bytes).
    pub const PROTECTION_CURRENT: u8 = 28;
    /// Operating mode.
    pub const MODE: u8 = 33;
    /// First address that is not EEPROM.
    pub const TORQUE_ENABLE: u8 = 40;
    /// Acceleration (100 steps/s²).
    pub const ACCELERATION: u8 = 41;
    /// Goal position (2 bytes).
    pub const GOAL_POSITION: u8 = 42;
    /// Goal speed (2 bytes).
    pub const GOAL_SPEED: u8 = 46;
    /// Torque limit (2 bytes, 0.1 %).
    pub const TORQUE_LIMIT: u8 = 48;
    /// 1 keeps EEPROM writes only until the next power cycle.
    pub const EEPROM_LOCK: u8 = 55;
    /// Present position, speed, load (2 bytes each), voltage, temperature.
    pub const PRESENT_POSITION: u8 = 56;
    /// Temperature (°C).
    pub const TEMPERATURE: u8 = 63;
    /// Status bits.
    pub const STATUS: u8 = 65;
    /// 1 while the joint moves.
    pub const MOVING: u8 = 66;
    /// Last address of what the plant sets.
    pub const PRESENT_END: u8 = 70;
    /// Speed from which a joint counts as moving (steps/s).
    pub const MOVING_THRESHOLD: u8 = 80;
    /// Highest speed (50 steps/s).
    pub const MAX_VELOCITY: u8 = 84;
    /// Highest acceleration (100 steps/s²).
    pub const MAX_ACCELERATION: u8 = 85;
}

/// What a write to an address does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Acknowledged and ignored: read-only, or no register at all.
    Ignored,
    /// Kept until the next power cycle, and for good while the EEPROM lock is 0.
    Eeprom,
    /// Kept until the next power cycle.
    Ram,
}

/// Access and power-up value of every address.
#[derive(Debug)]
pub struct Table {
    access: [Access; COUNT],
    power_up: [[u8; COUNT]; JOINTS],
}

/// The registers of the seven servos, read off the lab's arm at power-up: address, name, access, a value per
/// servo. Addresses that are not listed read 0.
static TABLE: LazyLock<Table> = LazyLock::new(|| parse(include_str!("registers.csv")));

fn parse(csv: &str) -> Table {
    let mut table = Table { access: [Access::Ignored; COUNT], power_up: [[0; COUNT]; JOINTS] };
    for line in csv.lines().skip(1) {
        let mut fields = line.split(',');
        let address = fields.next().and_then(|field| field.parse::<usize>().ok());
        let _name = fields.next();
        let access = match fields.next() {
            Some("eeprom") => Access::Eeprom,
            Some("ram") => Access::Ram,
            Some(_) | None => Access::Ignored,
        };
        let Some(address) = address.filter(|address| *address < COUNT) else { continue };
        table.access[address] = access;
        for (servo, field) in fields.enumerate().take(JOINTS) {
            table.power_up[servo][address] = field.trim().parse().unwrap_or(0);
        }
    }
    table
}

/// What a write to `address` does.
pub fn access(address: u8) -> Access {
    TABLE.access.get(usize::from(address)).copied().unwrap_or(Access::Ignored)
}

/// Values of servo `servo` (index) at power-up of a servo whose EEPROM nobody wrote.
pub fn power_up(servo: usize) -> [u8; COUNT] {
    TABLE.power_up[servo]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_values_of_the_arm() {
        assert_eq!(power_up(0)[usize::from(address::PRESENT_POSITION) + 6], 76, "voltage of J1");
        assert_eq!(power_up(6)[3..5], [10, 7], "model 0x070A of J7");
        assert_eq!(power_up(3)[usize::from(address::MAX_ACCELERATION)], 250);
        assert_eq!(power_up(0)[usize::from(address::EEPROM_LOCK)], 1);
    }

    #[test]
    fn access_follows_the_list() {
        assert_eq!(access(5), Access::Eeprom);
        assert_eq!(access(42), Access::Ram);
        for ignored in [0, 56, 70, 71, 79, 80, 86, 87, 127, 200, 255] {
            assert_eq!(access(ignored), Access::Ignored, "{ignored}");
        }
    }
}
