//! The 5 × 5 LED matrix: colours of the states and the progress spiral.

use crate::shared::State;

/// Pixels of the matrix.
pub const PIXELS: usize = 25;
/// Brightness that the driver applies to every colour (of 255).
pub const BRIGHTNESS: u8 = 20;
/// Red, green, blue (0–255, before [`BRIGHTNESS`]).
pub type Rgb = [u8; 3];
/// One picture: index = row · 5 + column.
pub type Frame = [Rgb; PIXELS];

const OFF: Rgb = [0, 0, 0];
/// No WiFi network is saved.
const NO_NETWORK: Rgb = [30, 30, 30];
/// The way of the progress through the pixels, from the centre outward.
const SPIRAL: [usize; PIXELS] =
    [12, 7, 8, 13, 18, 17, 16, 11, 6, 1, 2, 3, 4, 9, 14, 19, 24, 23, 22, 21, 20, 15, 10, 5, 0];

/// The colour of a state.
pub const fn colour(state: State) -> Rgb {
    match state {
        State::Booting => [0, 0, 40],
        State::Holding => [0, 40, 0],
        State::Ready => [40, 30, 0],
        State::Playing | State::Moving => [0, 30, 30],
        State::Jogging | State::Tracking => [20, 20, 40],
        State::Error => [50, 0, 0],
        State::Ota => [40, 0, 40],
    }
}

/// The state shows progress: its pixels light up one at a time.
pub const fn shows_progress(state: State) -> bool {
    match state {
        State::Playing | State::Moving => true,
        State::Booting
        | State::Holding
        | State::Ready
        | State::Error
        | State::Ota
        | State::Jogging
        | State::Tracking => false,
    }
}

/// The picture of a state. While playing and moving a pixel lights up halfway through its 1/25 of
/// `progress_permille` (0–1000, 1000 while settling).
pub fn frame(state: State, progress_permille: u16) -> Frame {
    let colour = colour(state);
    if !shows_progress(state) {
        return [colour; PIXELS];
    }
    let mut frame = [OFF; PIXELS];
    for (turn, pixel) in SPIRAL.into_iter().enumerate() {
        let lights_at_permille = (2 * turn + 1) * 1000 / (2 * PIXELS);
        if usize::from(progress_permille) >= lights_at_permille {
            frame[pixel] = colour;
        }
    }
    frame
}

/// The picture while no WiFi network is saved: white for half of every second, `state_frame` in the other.
pub fn without_network(state_frame: &Frame, now_us: u64) -> Frame {
    if now_us % 1_000_000 < 500_000 { [NO_NETWORK; PIXELS] } else { *state_frame }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_colour() {
        let colours = [
            (State::Booting, [0, 0, 40]),
            (State::Holding, [0, 40, 0]),
            (State::Ready, [40, 30, 0]),
            (State::Error, [50, 0, 0]),
            (State::Ota, [40, 0, 40]),
            (State::Jogging, [20, 20, 40]),
            (State::Tracking, [20, 20, 40]),
        ];
        for (state, expected) in colours {
            assert_eq!(frame(state, 500), [expected; PIXELS], "{state:?}");
        }
        for state in [State::Playing, State::Moving] {
            assert_eq!(frame(state, 1000), [[0, 30, 30]; PIXELS], "{state:?}");
        }
    }

    #[test]
    fn pixels_light_up_halfway_through_their_share_from_the_centre_outward() {
        let lit =
            |progress| -> usize { frame(State::Moving, progress).iter().filter(|&&p| p != OFF).count() };
        assert_eq!(lit(0), 0);
        assert_eq!(lit(19), 0);
        assert_eq!(lit(20), 1);
        assert_eq!(lit(59), 1);
        assert_eq!(lit(60), 2);
        assert_eq!(lit(979), 24);
        assert_eq!(lit(980), 25);
    }

    #[test]
    fn progress_lights_a_spiral_from_the_centre() {
        // When each pixel lights up, row by row.
        let order = [
            [24, 9, 10, 11, 12],
            [23, 8, 1, 2, 13],
            [22, 7, 0, 3, 14],
            [21, 6, 5, 4, 15],
            [20, 19, 18, 17, 16],
        ];
        for state in [State::Playing, State::Moving] {
            for progress_permille in 0..=1000 {
                let frame = frame(state, progress_permille);
                for (pixel, turn) in order.iter().flatten().enumerate() {
                    let expected = if progress_permille >= 40 * turn + 20 { [0, 30, 30] } else { OFF };
                    assert_eq!(frame[pixel], expected, "pixel {pixel} at {progress_permille} ‰");
                }
            }
        }
    }

    #[test]
    fn without_a_saved_network_it_is_white_for_half_of_every_second() {
        let green = frame(State::Holding, 0);
        assert_eq!(without_network(&green, 3_499_999), [[30, 30, 30]; PIXELS]);
        assert_eq!(without_network(&green, 3_500_000), green);
    }
}
