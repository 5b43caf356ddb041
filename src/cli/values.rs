//! Values of options with a form of their own: poses, speeds, angles.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::protocol::ApiLevel;

use crate::hardware::{PlantKind, READY_DEG, ZERO_DEG};
use crate::server::Speed;

/// Fastest and slowest speed factor.
const FACTOR_RANGE: RangeInclusive<f64> = 0.001..=10_000.0;

/// Joint angles at power-up (°), J1–J7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pose(pub(crate) [f64; JOINTS]);

/// A reader of whole numbers in `range`.
pub(crate) fn whole<N>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync
where
    N: TryFrom<u64>,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
            format!("expected a whole number from {} to {}, found `{text}`", range.start(), range.end())
        })
    }
}

/// Reads `ready`, `zero` or six or seven angles in degrees, separated by commas.
pub(crate) fn parse_pose(text: &str) -> Result<Pose, String> {
    match text {
        "zero" => Ok(Pose(ZERO_DEG)),
        "ready" => Ok(Pose(READY_DEG)),
        angles => parse_angles(angles),
    }
}

fn parse_angles(text: &str) -> Result<Pose, String> {
    let mut pose = ZERO_DEG;
    let mut count = 0;
    for word in text.split(',') {
        let angle_deg = parse_finite(word.trim()).ok_or_else(|| {
            format!("expected `ready`, `zero` or angles in degrees such as 0,0,-90,0,0,0, found `{word}`")
        })?;
        if let Some(joint) = pose.get_mut(count) {
            *joint = angle_deg;
        }
        count += 1;
    }
    if count == ARM_JOINTS || count == JOINTS {
        Ok(Pose(pose))
    } else {
        Err(format!("expected 6 angles (J1 to J6) or 7 (with J7, the gripper), found {count}"))
    }
}

/// Reads `max`, `paused` or a factor of real time.
pub(crate) fn parse_speed(text: &str) -> Result<Speed, String> {
    match text {
        "max" => Ok(Speed::Max),
        "paused" => Ok(Speed::Paused),
        factor => match parse_finite(factor) {
            Some(factor) if FACTOR_RANGE.contains(&factor) => Ok(Speed::Factor(factor)),
            _ => Err(format!(
                "expected `max`, `paused` or a factor of real time from {} to {}",
                FACTOR_RANGE.start(),
                FACTOR_RANGE.end()
            )),
        },
    }
}

/// Reads an API level, such as `5.1`.
pub(crate) fn parse_level(text: &str) -> Result<ApiLevel, String> {
    ApiLevel::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = ApiLevel::ALL.iter().map(|level| level.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// Reads the name of a plant.
pub(crate) fn parse_plant(text: &str) -> Result<PlantKind, String> {
    match text {
        "lag" => Ok(PlantKind::Lag),
        "measured" => Ok(PlantKind::Measured),
        _ => Err("expected lag or measured".to_owned()),
    }
}

/// Reads an angle (°).
pub(crate) fn parse_angle(text: &str) -> Result<f64, String> {
    parse_finite(text).ok_or_else(|| "expected an angle in degrees, such as -30".to_owned())
}

/// Reads the address and port that datagrams go to.
pub(crate) fn parse_target(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .ok()
        .filter(|target: &SocketAddr| target.port() != 0)
        .ok_or_else(|| "expected an IP address and a port, such as 192.168.1.255:5005".to_owned())
}

fn parse_finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_poses_have_j7_at_minus_20() {
        assert_eq!(parse_pose("zero"), Ok(Pose([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0])));
        assert_eq!(parse_pose("ready"), Ok(Pose([0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0])));
    }

    #[test]
    fn a_pose_has_six_or_seven_finite_angles() {
        assert_eq!(parse_pose("1,-2, 3,4,5,6"), Ok(Pose([1.0, -2.0, 3.0, 4.0, 5.0, 6.0, -20.0])));
        assert_eq!(parse_pose("1,2,3,4,5,6,-7.5"), Ok(Pose([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.5])));
        for wrong in
            ["", "1,2,3,4,5", "1,2,3,4,5,6,7,8", "1,2,3,4,5,nan", "1,2,3,4,5,inf", "1,2,x,4,5,6", "Ready"]
        {
            assert!(parse_pose(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_speed_is_max_paused_or_a_positive_factor() {
        assert_eq!(parse_speed("max"), Ok(Speed::Max));
        assert_eq!(parse_speed("paused"), Ok(Speed::Paused));
        assert_eq!(parse_speed("2.5"), Ok(Speed::Factor(2.5)));
        for wrong in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_api_level_is_one_that_a_firmware_had() {
        assert_eq!(parse_level("4.1"), Ok(ApiLevel::V4_1));
        assert_eq!(parse_level("5.1"), Ok(ApiLevel::V5_1));
        assert_eq!(parse_level("4.3"), Err("expected one of 4.1, 4.2, 4.4, 4.6, 5.0, 5.1".to_owned()));
    }

    #[test]
    fn a_plant_is_lag_or_measured() {
        assert_eq!(parse_plant("lag"), Ok(PlantKind::Lag));
        assert_eq!(parse_plant("measured"), Ok(PlantKind::Measured));
        assert_eq!(parse_plant("Lag"), Err("expected lag or measured".to_owned()));
    }

    #[test]
    fn a_target_has_an_ip_address_and_a_port() {
        assert_eq!(parse_target("127.0.0.1:5005"), Ok(SocketAddr::from(([127, 0, 0, 1], 5005))));
        for wrong in ["127.0.0.1", "127.0.0.1:0", ":5005", "localhost:5005", ""] {
            assert!(parse_target(wrong).is_err(), "{wrong}");
        }
    }
}
