//! The plant `lag`: a joint follows its goal with 0.12 s of lag and at most 90 °/s, in closed form.
//!
//! Between two orders a joint's motion is one [`Piece`]: straight at its top speed until it is near, then an
//! exponential, cut off by a wall. A piece can be asked for any time, so nothing is integrated and nobody who
//! looks changes anything.

use super::drive::{Drive, Felt, Motion, WALL_STIFFNESS_PERCENT_DEG, seconds};
use super::heat::{AMBIENT_C, FULL_HEAT_DPS, MOTION_HEAT_C, push_heat_c, relax};

/// Time constant of the lag (s).
const LAG_S: f64 = 0.12;
/// Top speed of the plant (°/s).
const TOP_SPEED_DPS: f64 = 90.0;
/// A motion is over after this many time constants: what is left of 90 °/s is below 0.001 °.
const SETTLED_LAGS: f64 = 10.0;
/// In so short a time the speed hardly changes (s).
const SHORT_S: f64 = 0.005;
/// Pieces that are kept, so that a time shortly before the last order can still be looked at.
const HISTORY: usize = 8;

/// The motion of one joint from one order to the next.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start_us: u64,
    from_deg: f64,
    /// Where the motion would end without a wall.
    to_deg: f64,
    /// +1, −1, or 0 at rest.
    direction: f64,
    top_speed_dps: f64,
    /// How long it goes straight (s).
    straight_s: f64,
    /// What is left of the way then (°).
    near_deg: f64,
    /// When it reaches its wall (s), infinite without one in the way.
    wall_s: f64,
    wall_deg: f64,
    /// Steady push once it leans on the wall (%, signed as the drive pushes).
    push_percent: f64,
    /// The wall is an object that slips away when it is reached.
    slips: bool,
    /// Temperature at the start (°C).
    start_c: f64,
    /// Since when it has pushed without a break (µs).
    pushed_since_us: Option<u64>,
}

impl Piece {
    fn at_rest(t_us: u64, deg: f64) -> Self {
        Self {
            start_us: t_us,
            from_deg: deg,
            to_deg: deg,
            direction: 0.0,
            top_speed_dps: 0.0,
            straight_s: 0.0,
            near_deg: 0.0,
            wall_s: f64::INFINITY,
            wall_deg: deg,
            push_percent: 0.0,
            slips: false,
            start_c: AMBIENT_C,
            pushed_since_us: None,
        }
    }

    fn motion_after(&self, s: f64) -> Motion {
        if s >= self.wall_s {
            return Motion { deg: self.wall_deg, dps: 0.0, dps2: 0.0 };
        }
        if s < self.straight_s {
            let dps = self.direction * self.top_speed_dps;
            return Motion { deg: self.from_deg + dps * s, dps, dps2: 0.0 };
        }
        if self.near_deg == 0.0 {
            return Motion { deg: self.to_deg, dps: 0.0, dps2: 0.0 };
        }
        let left_deg = self.direction * self.near_deg * libm::exp((self.straight_s - s) * (1.0 / LAG_S));
        let dps = left_deg * (1.0 / LAG_S);
        Motion { deg: self.to_deg - left_deg, dps, dps2: -dps * (1.0 / LAG_S) }
    }

    /// What it pushes `s` after the start (%).
    fn push_after(&self, s: f64) -> f64 {
        if s >= self.wall_s && !self.slips { self.push_percent } else { 0.0 }
    }

    /// How long it has pushed `percent` or more `s` after the start, which is `t_us` (µs).
    fn overloaded_after(&self, s: f64, percent: f64, t_us: u64) -> u64 {
        if self.push_after(s).abs() < percent {
            return 0;
        }
        t_us.saturating_sub(self.pushed_since_us.unwrap_or_else(|| self.wall_us()))
    }

    /// When it reaches its wall (µs), the end of time without one.
    fn wall_us(&self) -> u64 {
        self.start_us.saturating_add((self.wall_s * 1e6) as u64)
    }

    /// When the joint has gone `way_deg` (s).
    fn when_gone(&self, way_deg: f64) -> f64 {
        let straight_deg = self.top_speed_dps * self.straight_s;
        if way_deg <= straight_deg {
            return way_deg / self.top_speed_dps;
        }
        self.straight_s + LAG_S * libm::log(self.near_deg / (self.near_deg + straight_deg - way_deg))
    }

    /// Temperature `s` after the start: motion first, then rest or a steady push.
    fn temperature_after(&self, s: f64, deg: f64) -> f64 {
        let moving_s = s.min(self.wall_s).min(self.straight_s + SETTLED_LAGS * LAG_S);
        let mut celsius = self.start_c;
        if moving_s > 0.0 {
            let way_deg = (deg - self.from_deg).abs();
            let mean_heat = self.full_heat_share(moving_s, way_deg);
            celsius = relax(celsius, AMBIENT_C + MOTION_HEAT_C * mean_heat, moving_s);
        }
        if s > moving_s {
            celsius = relax(celsius, AMBIENT_C + push_heat_c(self.push_percent), s - moving_s);
        }
        celsius
    }

    /// Mean over `s` of min(1, |speed| / 60 °/s), the joint having gone `way_deg`.
    fn full_heat_share(&self, s: f64, way_deg: f64) -> f64 {
        let start_dps = self.near_deg * (1.0 / LAG_S);
        if start_dps <= FULL_HEAT_DPS || s <= SHORT_S {
            return (way_deg / (FULL_HEAT_DPS * s)).min(1.0);
        }
        let fast_s = self.straight_s + LAG_S * libm::log(start_dps * (1.0 / FULL_HEAT_DPS));
        if s <= fast_s {
            return 1.0;
        }
        let fast_deg = (self.motion_after(fast_s).deg - self.from_deg).abs();
        (fast_s + (way_deg - fast_deg) / FULL_HEAT_DPS) / s
    }
}

/// One joint of the plant.
#[derive(Debug, Clone)]
pub(crate) struct LagJoint {
    pieces: [Piece; HISTORY],
    newest: usize,
    /// The last order that lets the object slip.
    slipping: Drive,
    /// Load from which a push counts for the overload protection (%).
    overload_percent: f64,
}

impl LagJoint {
    /// A joint that rests at `deg`, with `drive` as its order.
    pub(crate) fn new(deg: f64, drive: Drive) -> Self {
        let pieces = [Piece::at_rest(0, deg); HISTORY];
        Self { pieces, newest: 0, slipping: drive, overload_percent: drive.overload_percent }
    }

    /// Calls `look` with the piece of `t_us` and the time since its start (s).
    fn at<R>(&self, t_us: u64, look: impl FnOnce(&Piece, f64) -> R) -> R {
        let mut index = self.newest;
        for _ in 1..HISTORY {
            if self.pieces[index].start_us <= t_us {
                break;
            }
            index = (index + HISTORY - 1) % HISTORY;
        }
        let piece = &self.pieces[index];
        if piece.slips && piece.wall_us() <= t_us {
            let rest = self.after_slip(piece);
            return look(&rest, seconds(rest.start_us, t_us));
        }
        look(piece, seconds(piece.start_us, t_us))
    }

    /// What follows when the object has slipped away: the rest of the way, from the object on.
    fn after_slip(&self, piece: &Piece) -> Piece {
        let mut rest = Piece::at_rest(piece.wall_us(), piece.wall_deg);
        rest.start_c = piece.temperature_after(piece.wall_s, piece.wall_deg);
        let mut drive = self.slipping;
        drive.world.low_deg = drive.world.low_without_object_deg;
        drive.world.slips_above_percent = None;
        plan(&mut rest, &drive);
        rest
    }

    /// Where the joint is at `t_us`. Before the orders that are still known it is where their first found it.
    pub(crate) fn motion(&self, t_us: u64) -> Motion {
        self.at(t_us, Piece::motion_after)
    }

    /// When the object slips away (µs), if it does before the next order.
    pub(crate) fn slips_at_us(&self) -> Option<u64> {
        let piece = &self.pieces[self.newest];
        piece.slips.then(|| piece.wall_us())
    }

    /// Temperature at `t_us` (°C).
    pub(crate) fn temperature_c(&self, t_us: u64) -> f64 {
        self.at(t_us, |piece, s| piece.temperature_after(s, piece.motion_after(s).deg))
    }

    /// What the servo feels at `t_us`.
    pub(crate) fn felt(&self, t_us: u64) -> Felt {
        self.at(t_us, |piece, s| Felt {
            encoder: piece.motion_after(s),
            push_percent: piece.push_after(s),
            overloaded_us: piece.overloaded_after(s, self.overload_percent, t_us),
            duty_percent: None,
        })
    }

    /// A new order at `t_us`; earlier than the last one it counts as then.
    pub(crate) fn order(&mut self, t_us: u64, drive: &Drive) {
        let t_us = t_us.max(self.pieces[self.newest].start_us);
        let (mut piece, overloaded_us) = self.at(t_us, |last, s| {
            let deg = last.motion_after(s).deg;
            let mut piece = Piece::at_rest(t_us, deg.clamp(drive.world.low_deg, drive.world.high_deg));
            piece.start_c = last.temperature_after(s, deg);
            (piece, last.overloaded_after(s, self.overload_percent, t_us))
        });
        plan(&mut piece, drive);
        if overloaded_us > 0 && piece.wall_s == 0.0 {
            piece.pushed_since_us = Some(t_us - overloaded_us);
        }
        self.begin(piece);
        self.overload_percent = drive.overload_percent;
        if piece.slips {
            self.slipping = *drive;
        }
    }

    /// A hand puts the joint at `deg` at `t_us`.
    pub(crate) fn put(&mut self, t_us: u64, deg: f64) {
        let t_us = t_us.max(self.pieces[self.newest].start_us);
        let mut piece = Piece::at_rest(t_us, deg);
        piece.start_c = self.temperature_c(t_us);
        self.begin(piece);
    }

    fn begin(&mut self, piece: Piece) {
        let newest = &self.pieces[self.newest];
        if newest.slips && newest.wall_us() < piece.start_us {
            let rest = self.after_slip(newest);
            self.newest = (self.newest + 1) % HISTORY;
            self.pieces[self.newest] = rest;
        }
        if self.pieces[self.newest].start_us != piece.start_us {
            self.newest = (self.newest + 1) % HISTORY;
        }
        self.pieces[self.newest] = piece;
    }
}

/// Sets the motion of `piece` toward `to_deg`.
fn aim(piece: &mut Piece, to_deg: f64, top_speed_dps: f64) {
    let way_deg = to_deg - piece.from_deg;
    if way_deg == 0.0 {
        return;
    }
    piece.to_deg = to_deg;
    piece.direction = if way_deg > 0.0 { 1.0 } else { -1.0 };
    piece.top_speed_dps = top_speed_dps;
    piece.near_deg = way_deg.abs().min(top_speed_dps * LAG_S);
    piece.straight_s = (way_deg.abs() - piece.near_deg) / top_speed_dps;
}

/// Sets the motion of `piece`, which stands between the walls, as `drive` says.
fn plan(piece: &mut Piece, drive: &Drive) {
    let world = &drive.world;
    if !drive.on || world.frozen || drive.speed_cap_dps <= 0.0 || drive.torque_percent <= 0.0 {
        return;
    }
    let from_deg = piece.from_deg;
    let mut goal_deg = drive.goal_deg;
    if world.friction_percent > 0.0 {
        // The drive gives up when its push is less than the friction.
        let band_deg = world.friction_percent / WALL_STIFFNESS_PERCENT_DEG;
        let way_deg = goal_deg - from_deg;
        goal_deg = from_deg + (way_deg.abs() - band_deg).max(0.0).copysign(way_deg);
    }
    let way_deg = goal_deg - from_deg;
    let held_back = world.push_percent.abs() >= drive.torque_percent && way_deg * world.push_percent < 0.0;
    if held_back {
        return;
    }
    aim(piece, goal_deg, drive.speed_cap_dps.min(TOP_SPEED_DPS));
    let (wall_deg, stiffness) = if goal_deg < world.low_deg {
        (world.low_deg, world.low_stiffness_percent_deg)
    } else if goal_deg > world.high_deg {
        (world.high_deg, WALL_STIFFNESS_PERCENT_DEG)
    } else {
        return;
    };
    let push = stiffness * (goal_deg - wall_deg);
    piece.push_percent = push.clamp(-drive.torque_percent, drive.torque_percent);
    piece.wall_deg = wall_deg;
    piece.wall_s = piece.when_gone((wall_deg - from_deg).abs());
    piece.slips = goal_deg < world.low_deg
        && world.low_without_object_deg < world.low_deg
        && world.slips_above_percent.is_some_and(|limit| piece.push_percent.abs() > limit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::drive::World;

    fn drive(goal_deg: f64, speed_cap_dps: f64) -> Drive {
        Drive {
            on: true,
            goal_deg,
            speed_cap_dps,
            torque_percent: 100.0,
            overload_percent: 80.0,
            ramps: false,
            accel_dps2: 0.0,
            gains_pdi: [0.0; 3],
            starting_force_percent: 0.0,
            dead_zone_deg: 0.0,
            world: World {
                low_deg: -170.0,
                high_deg: 170.0,
                low_stiffness_percent_deg: 10.0,
                slips_above_percent: None,
                low_without_object_deg: -170.0,
                object_g: 0.0,
                frozen: false,
                push_percent: 0.0,
                friction_percent: 0.0,
            },
        }
    }

    /// The equation of the plant in steps of 1 µs, with changes of goal.
    fn integrated(orders: &[(u64, f64, f64)], end_us: u64) -> f64 {
        let mut deg = 0.0;
        let mut order = (0.0, 0.0);
        for t_us in 0..end_us {
            for &(at_us, goal_deg, cap_dps) in orders {
                if at_us == t_us {
                    order = (goal_deg, cap_dps);
                }
            }
            let cap_dps: f64 = order.1;
            let limit_dps = cap_dps.min(90.0);
            deg += ((order.0 - deg) / 0.12).clamp(-limit_dps, limit_dps) * 1e-6;
        }
        deg
    }

    #[test]
    fn the_closed_form_agrees_with_the_equation() {
        let orders =
            [(0, 60.0, 400.0), (300_000, 20.0, 50.0), (800_000, 21.0, 400.0), (900_000, -80.0, 90.0)];
        let mut joint = LagJoint::new(0.0, drive(0.0, 0.0));
        for (at_us, goal_deg, cap_dps) in orders {
            joint.order(at_us, &drive(goal_deg, cap_dps));
        }
        for t_us in [1_000, 250_000, 300_000, 500_000, 799_000, 850_000, 1_200_000, 3_000_000] {
            let expected = integrated(&orders, t_us);
            let found = joint.motion(t_us).deg;
            assert!((found - expected).abs() < 0.000_5, "{found} instead of {expected} at {t_us} µs");
        }
    }

    #[test]
    fn speed_and_acceleration_are_the_derivatives_of_the_angle() {
        let mut joint = LagJoint::new(0.0, drive(0.0, 0.0));
        joint.order(0, &drive(30.0, 90.0));
        for t_us in [100_000, 300_000, 400_000, 600_000] {
            let [before, now, after] = [t_us - 100, t_us, t_us + 100].map(|t| joint.motion(t));
            assert!(((after.deg - before.deg) / 2e-4 - now.dps).abs() < 0.001);
            assert!(((after.dps - before.dps) / 2e-4 - now.dps2).abs() < 0.01);
        }
    }

    #[test]
    fn heat_agrees_with_its_equation() {
        let mut joint = LagJoint::new(-150.0, drive(-150.0, 0.0));
        joint.order(0, &drive(150.0, 400.0));
        let mut celsius = 25.0;
        for ms in 0..10_000_u64 {
            let dps = joint.motion(ms * 1_000).dps;
            celsius += (25.0 + 10.0 * (dps.abs() / 60.0).min(1.0) - celsius) / 60.0 * 1e-3;
        }
        let found = joint.temperature_c(10_000_000);
        assert!((found - celsius).abs() < 0.005, "{found} instead of {celsius}");
    }

    #[test]
    fn a_wall_is_met_at_its_time_whatever_part_of_the_way_it_is_on() {
        for high_deg in [5.0, 40.0, 49.0] {
            let mut order = drive(50.0, 60.0);
            order.world.high_deg = high_deg;
            let mut walled = LagJoint::new(0.0, order);
            walled.order(0, &order);
            let mut free = LagJoint::new(0.0, drive(50.0, 60.0));
            free.order(0, &drive(50.0, 60.0));
            for ms in 0..3_000 {
                let expected = free.motion(ms * 1_000).deg.min(high_deg);
                assert!((walled.motion(ms * 1_000).deg - expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn friction_lets_a_joint_stop_short() {
        let mut joint = LagJoint::new(0.0, drive(0.0, 0.0));
        let mut order = drive(30.0, 90.0);
        order.world.friction_percent = 20.0;
        joint.order(0, &order);
        assert!((joint.motion(5_000_000).deg - 28.0).abs() < 1e-6);
    }

    #[test]
    fn a_push_beyond_the_torque_stops_motion_against_it_alone() {
        let mut order = drive(30.0, 90.0);
        order.world.push_percent = -100.0;
        let mut joint = LagJoint::new(0.0, order);
        joint.order(0, &order);
        assert!(joint.motion(1_000_000).deg.abs() < 1e-9);
        order.goal_deg = -30.0;
        joint.order(1_000_000, &order);
        assert!((joint.motion(5_000_000).deg + 30.0).abs() < 1e-6);
    }
}
