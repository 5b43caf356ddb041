//! Pulses of the 25 WS2812 pixels: for each bit a high and a low time; green, red, blue, highest bit first.

use firmware_core::led::{BRIGHTNESS, Frame, PIXELS};

/// Bits of one picture.
pub const BITS: usize = 24 * PIXELS;
/// Resolution of the times (ns): the pulse generator runs at 80 MHz with a divider of 4.
pub const TICK_NS: u32 = 50;

/// High and low time of a bit (ticks of 50 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// High time.
    pub high: u16,
    /// Low time.
    pub low: u16,
}

/// 0.4 µs high and 0.85 µs low.
const ZERO: Pulse = Pulse { high: 8, low: 17 };
/// 0.8 µs high and 0.45 µs low.
const ONE: Pulse = Pulse { high: 16, low: 9 };

/// A colour value at the matrix's brightness.
const fn dimmed(value: u8) -> u8 {
    (value as u16 * (BRIGHTNESS as u16 + 1) / 256) as u8
}

/// The pulses of a picture, pixel by pixel.
pub fn pulses(frame: &Frame) -> impl Iterator<Item = Pulse> {
    frame
        .iter()
        .flat_map(|[red, green, blue]| [*green, *red, *blue])
        .flat_map(|value| (0..8).rev().map(move |bit| if dimmed(value) >> bit & 1 == 1 { ONE } else { ZERO }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pixel_comes_first_as_green_red_blue_highest_bit_first() {
        let mut frame = [[0; 3]; PIXELS];
        // 255 at brightness 20 is 20.
        frame[0] = [0, 255, 0];
        let bits: std::vec::Vec<u8> = pulses(&frame).map(|pulse| u8::from(pulse.high > pulse.low)).collect();
        assert_eq!(bits.len(), BITS);
        assert_eq!(bits[..8], [0, 0, 0, 1, 0, 1, 0, 0]);
        assert!(bits[8..].iter().all(|bit| *bit == 0));
    }

    #[test]
    fn a_bit_takes_a_microsecond_and_a_quarter() {
        for pulse in [ZERO, ONE] {
            assert_eq!(u32::from(pulse.high + pulse.low) * TICK_NS, 1_250);
        }
        // The chips' data sheet: 0.4 ± 0.15 µs and 0.8 ± 0.15 µs.
        assert!((250..=550).contains(&(u32::from(ZERO.high) * TICK_NS)));
        assert!((650..=950).contains(&(u32::from(ONE.high) * TICK_NS)));
    }
}
