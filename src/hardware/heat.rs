//! How servos get warm, by the lab's measurements: motion within minutes, and a gripper that squeezes.

/// Temperature at rest (°C).
pub(crate) const AMBIENT_C: f64 = 25.0;
/// What motion adds at 60 °/s and above (°C).
pub(crate) const MOTION_HEAT_C: f64 = 10.0;
/// Speed at which motion heats fully (°/s).
pub(crate) const FULL_HEAT_DPS: f64 = 60.0;
/// What a steady push adds at full load (°C): 45 °C after one minute, 53 °C after two.
const PUSH_HEAT_C: f64 = 32.0;
/// No servo gets hotter than this by itself (°C).
pub(crate) const HOTTEST_C: f64 = AMBIENT_C + MOTION_HEAT_C + PUSH_HEAT_C;
/// Time constant of the temperature (s).
const HEAT_S: f64 = 60.0;

/// What a steady push adds (°C): current heats with its square.
pub(crate) fn push_heat_c(push_percent: f64) -> f64 {
    let push = push_percent * 0.01;
    PUSH_HEAT_C * push * push
}

/// A temperature on its way to `end_c` after `s` seconds.
pub(crate) fn relax(start_c: f64, end_c: f64, s: f64) -> f64 {
    let x = s * (1.0 / HEAT_S);
    // Four terms are exact to 1e-9 up to half a second, and cost less than the function.
    let left = if x < 0.01 { 1.0 - x * (1.0 - x * (0.5 - x * (1.0 / 6.0))) } else { libm::exp(-x) };
    end_c + (start_c - end_c) * left
}
