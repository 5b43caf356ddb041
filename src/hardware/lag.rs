//! The `lag` plant of one joint, in closed form: q̇ = clamp((goal − q)/τ, ±v), τ = 0.12 s.
//!
//! Positions in servo steps that go on past one turn, so that one formula serves every joint. Between two
//! changes of goal the motion is a straight line while the speed is at its limit, then an exponential; it is
//! evaluated at the time somebody asks for, and asking changes nothing.

/// Time constant (s).
const TAU_S: f64 = 0.12;
/// Speed limit: 90 °/s (steps/s).
pub const SPEED_LIMIT_SPS: f64 = 1024.0;

/// A motion from a known position toward a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Since when (µs).
    pub from_us: u64,
    /// Position then (steps).
    pub from_steps: f64,
    /// Where it goes (steps).
    pub goal_steps: f64,
    /// Speed limit (steps/s), 0 = does not move.
    pub limit_sps: f64,
}

impl Segment {
    /// A joint at rest at `steps`.
    pub fn rest(from_us: u64, steps: f64) -> Self {
        Self { from_us, from_steps: steps, goal_steps: steps, limit_sps: 0.0 }
    }

    /// Position (steps) and speed (steps/s) at `t_us`, not before the segment begins.
    pub fn at(&self, t_us: u64) -> (f64, f64) {
        let way = self.goal_steps - self.from_steps;
        if self.limit_sps <= 0.0 || way == 0.0 {
            return (self.from_steps, 0.0);
        }
        let t_s = t_us.saturating_sub(self.from_us) as f64 * 1e-6;
        let direction = way.signum();
        // At the limit until the rest of the way is what the exponential does from that speed.
        let exponential_steps = self.limit_sps * TAU_S;
        let line_s = ((way.abs() - exponential_steps) / self.limit_sps).max(0.0);
        if t_s < line_s {
            return (self.from_steps + direction * self.limit_sps * t_s, direction * self.limit_sps);
        }
        let rest_steps = way.abs().min(exponential_steps) * libm::exp((line_s - t_s) / TAU_S);
        (self.goal_steps - direction * rest_steps, direction * rest_steps / TAU_S)
    }
}

/// The last motions of a joint: enough of the past for the IMU, which looks back a few milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Lag {
    segments: [Segment; Self::KEPT],
}

impl Lag {
    const KEPT: usize = 6;

    /// A joint at rest at `steps`.
    pub fn new(from_us: u64, steps: f64) -> Self {
        Self { segments: [Segment::rest(from_us, steps); Self::KEPT] }
    }

    /// Position (steps) and speed (steps/s) at `t_us`. A time before the oldest motion kept shows its start.
    pub fn at(&self, t_us: u64) -> (f64, f64) {
        let segment = self.segments.iter().find(|segment| segment.from_us <= t_us);
        segment.unwrap_or(&self.segments[Self::KEPT - 1]).at(t_us)
    }

    /// From `t_us` on the joint goes to `goal_steps` at up to `limit_sps`.
    pub fn aim(&mut self, t_us: u64, goal_steps: f64, limit_sps: f64) {
        let newest = &self.segments[0];
        if newest.goal_steps == goal_steps && newest.limit_sps == limit_sps {
            return;
        }
        let (from_steps, _) = self.at(t_us);
        self.begin(Segment { from_us: t_us, from_steps, goal_steps, limit_sps });
    }

    /// Puts the joint somewhere, at rest.
    pub fn place(&mut self, t_us: u64, steps: f64) {
        self.begin(Segment::rest(t_us, steps));
    }

    fn begin(&mut self, segment: Segment) {
        self.segments.rotate_right(1);
        self.segments[0] = segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The equation of the plant, in small steps.
    fn integrated(segment: &Segment, t_s: f64) -> f64 {
        let dt_s = 1e-6;
        let mut q = segment.from_steps;
        for _ in 0..(t_s / dt_s).round() as u64 {
            q += ((segment.goal_steps - q) / TAU_S).clamp(-segment.limit_sps, segment.limit_sps) * dt_s;
        }
        q
    }

    #[test]
    fn the_closed_form_agrees_with_the_equation() {
        for (goal, limit) in [(3000.0, 1024.0), (1000.0, 300.0), (2100.0, 1024.0), (1990.0, 50.0)] {
            let segment = Segment { from_us: 1_000, from_steps: 2048.0, goal_steps: goal, limit_sps: limit };
            for t_us in [0, 1_000, 50_000, 400_000, 1_500_000] {
                let (steps, _) = segment.at(1_000 + t_us);
                let expected = integrated(&segment, t_us as f64 * 1e-6);
                assert!((steps - expected).abs() < 0.01, "goal {goal} t {t_us}: {steps} {expected}");
            }
        }
    }

    #[test]
    fn speed_0_does_not_move_and_the_past_stays() {
        let mut lag = Lag::new(0, 2048.0);
        lag.aim(10_000, 3000.0, 0.0);
        assert_eq!(lag.at(1_000_000), (2048.0, 0.0));
        lag.aim(1_000_000, 3000.0, 1024.0);
        let before = lag.at(1_001_000);
        lag.aim(1_002_000, 1000.0, 1024.0);
        assert_eq!(lag.at(1_001_000), before);
        assert!(lag.at(1_500_000).0 < before.0);
    }
}
