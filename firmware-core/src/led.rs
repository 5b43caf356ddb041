//! The 5 × 5 LED matrix: colours of the states and the progress spiral.
