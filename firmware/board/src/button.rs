//! The button: one press is told once.

/// A press is a press when the button was down for so long (looks, one a millisecond).
pub const DEBOUNCE_LOOKS: u32 = 30;

/// The button, looked at once a millisecond.
#[derive(Debug, Default)]
pub struct Button {
    down_looks: u32,
}

impl Button {
    /// The button is down or up now. True: it was pressed, once per press.
    pub fn pressed(&mut self, down: bool) -> bool {
        self.down_looks = if down { self.down_looks.saturating_add(1) } else { 0 };
        self.down_looks == DEBOUNCE_LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presses(looks: impl IntoIterator<Item = bool>) -> usize {
        let mut button = Button::default();
        looks.into_iter().filter(|down| button.pressed(*down)).count()
    }

    #[test]
    fn a_press_is_told_once_however_long_it_is() {
        assert_eq!(presses([true; 30]), 1);
        assert_eq!(presses(std::iter::repeat_n(true, 100_000)), 1);
        assert_eq!(presses([[true; 40], [false; 40], [true; 40]].concat()), 2);
    }

    #[test]
    fn a_contact_that_bounces_or_is_touched_for_a_moment_is_no_press() {
        assert_eq!(presses([true; 29]), 0);
        assert_eq!(presses((0..1_000).map(|look| look % 30 != 0)), 0);
    }
}
