//! The ATOM's association with its access point: it drops, and the ATOM tries to join again every 15 s.

/// Time from one attempt to join to the next (µs).
pub const REJOIN_US: u64 = 15_000_000;

/// Whether the ATOM is in its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Association {
    down: Option<Down>,
    drops: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Down {
    since_us: u64,
    /// The access point is there again from this time on (µs).
    back_us: u64,
}

impl Association {
    /// The access point is gone from `now_us` until `back_us`. The first attempt to join after that succeeds.
    pub fn drop(&mut self, now_us: u64, back_us: u64) {
        match &mut self.down {
            None => {
                self.down = Some(Down { since_us: now_us, back_us });
                self.drops += 1;
            }
            Some(down) => down.back_us = down.back_us.max(back_us),
        }
    }

    /// The ATOM starts at `now_us`, and knows of no drops. `in_reach`: the access point is there; if not, it
    /// tries to join again every 15 s from now on.
    pub fn start(now_us: u64, in_reach: bool) -> Self {
        let down = if in_reach { None } else { Some(Down { since_us: now_us, back_us: u64::MAX }) };
        Self { down, drops: 0 }
    }

    /// The access point of a drop without known end is there again from `now_us` on.
    pub fn return_at(&mut self, now_us: u64) {
        if let Some(down) = &mut self.down {
            down.back_us = now_us;
        }
    }

    /// The ATOM is in its network at `now_us`.
    pub fn is_up(&self, now_us: u64) -> bool {
        self.rejoins_us().is_none_or(|at_us| at_us <= now_us)
    }

    /// When the ATOM is in its network again (µs); `None` while it never left.
    pub fn rejoins_us(&self) -> Option<u64> {
        self.down.map(|down| {
            let attempts = down.back_us.saturating_sub(down.since_us).div_ceil(REJOIN_US).max(1);
            down.since_us.saturating_add(attempts.saturating_mul(REJOIN_US))
        })
    }

    /// Takes note that the ATOM has joined again, when it has by `now_us`. True once for each time.
    pub fn settle(&mut self, now_us: u64) -> bool {
        let joined = self.down.is_some() && self.is_up(now_us);
        if joined {
            self.down = None;
        }
        joined
    }

    /// Associations lost so far: `wifi_drops` of the status log.
    pub fn drops(&self) -> u32 {
        self.drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_drop_ends_with_the_first_attempt_after_15_s() {
        let mut association = Association::default();
        association.drop(2_000_000, 3_000_000);
        assert!(!association.is_up(16_999_999));
        assert_eq!(association.rejoins_us(), Some(17_000_000));
        assert!(association.settle(17_000_000) && !association.settle(17_000_000));
        assert_eq!((association.drops(), association.rejoins_us()), (1, None));
    }

    #[test]
    fn a_long_drop_ends_with_the_first_attempt_that_finds_the_access_point() {
        let mut association = Association::default();
        association.drop(0, 31_000_000);
        assert_eq!(association.rejoins_us(), Some(45_000_000));
    }

    #[test]
    fn a_start_without_the_access_point_joins_with_the_first_attempt_that_finds_it() {
        let mut association = Association::start(5_000_000, false);
        assert!(!association.is_up(1_000_000_000));
        association.return_at(21_000_000);
        assert_eq!((association.rejoins_us(), association.drops()), (Some(35_000_000), 0));
        assert!(Association::start(5_000_000, true).is_up(5_000_000));
    }

    #[test]
    fn drops_that_overlap_count_once() {
        let mut association = Association::default();
        association.drop(0, 1_000_000);
        association.drop(500_000, 20_000_000);
        assert_eq!((association.drops(), association.rejoins_us()), (1, Some(30_000_000)));
    }
}
