//! What an MCAP file has: messages in JSON. The well-known types have the names and fields by which viewers know them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

/// A message type of the file.
pub trait Message: Serialize + JsonSchema {
    /// The name of its schema.
    const SCHEMA_NAME: &'static str;
}

/// The JSON Schema of a message type. Viewers read schemas without references, so parts stand where they are used.
///
/// # Errors
/// The schema cannot be written as JSON.
pub fn schema<M: Message>() -> serde_json::Result<Vec<u8>> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<M>();
    schema.insert("title".to_owned(), M::SCHEMA_NAME.into());
    serde_json::to_vec(&schema)
}

/// A time: seconds and nanoseconds, as viewers have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "time")]
pub struct Time {
    /// Seconds.
    pub sec: u32,
    /// Nanoseconds of the second.
    pub nsec: u32,
}

impl Time {
    /// Of a virtual time (µs).
    pub fn from_us(t_us: u64) -> Self {
        Self { sec: (t_us / 1_000_000) as u32, nsec: (t_us % 1_000_000) as u32 * 1_000 }
    }
}

/// A vector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "foxglove.Vector3")]
pub struct Vector3 {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Along z.
    pub z: f64,
}

/// A rotation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "foxglove.Quaternion")]
#[expect(missing_docs, reason = "the parts of a quaternion have no other names")]
pub struct Quaternion {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub w: f64,
}

/// A position (m) and orientation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "foxglove.Pose")]
pub struct Pose {
    /// Position (m).
    pub position: Vector3,
    /// Orientation.
    pub orientation: Quaternion,
}

/// A pose in a frame: the TCP.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoseInFrame {
    /// When.
    pub timestamp: Time,
    /// The frame.
    pub frame_id: &'static str,
    /// The pose.
    pub pose: Pose,
}

impl Message for PoseInFrame {
    const SCHEMA_NAME: &'static str = "foxglove.PoseInFrame";
}

/// Where a frame is in another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "foxglove.FrameTransform")]
pub struct FrameTransform {
    /// When.
    pub timestamp: Time,
    /// The other frame.
    pub parent_frame_id: &'static str,
    /// The frame.
    pub child_frame_id: &'static str,
    /// Its origin (m).
    pub translation: Vector3,
    /// Its orientation.
    pub rotation: Quaternion,
}

/// Where the links are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrameTransforms {
    /// One for each link, and the TCP.
    pub transforms: Vec<FrameTransform>,
}

impl Message for FrameTransforms {
    const SCHEMA_NAME: &'static str = "foxglove.FrameTransforms";
}

/// One joint as models of robots have it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "foxglove.JointState")]
pub struct JointState {
    /// J1 to J7.
    pub name: &'static str,
    /// Angle (rad).
    pub position: f64,
    /// Speed (rad/s); 0 for goals.
    pub velocity: f64,
}

/// The joints as models of robots have them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JointStates {
    /// When.
    pub timestamp: Time,
    /// J1 to J6, and J7 with the gripper.
    pub joints: Vec<JointState>,
}

impl Message for JointStates {
    const SCHEMA_NAME: &'static str = "foxglove.JointStates";
}

/// One joint in the units of this project, for plots. What a source does not know is left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Joint {
    /// J1 to J7.
    pub name: &'static str,
    /// Where the plan wants it (°); recordings only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub wanted_deg: Option<f64>,
    /// The goal it was sent (°).
    pub goal_deg: f64,
    /// What its encoder says (°).
    pub measured_deg: f64,
    /// Where it really is (°); simulated arms only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub true_deg: Option<f64>,
    /// Speed (°/s).
    pub speed_dps: f64,
    /// Load (% of full PWM).
    pub load_percent: f64,
    /// Temperature (°C); simulated arms only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub temperature_c: Option<f64>,
    /// Voltage (V); simulated arms only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub voltage_v: Option<f64>,
}

/// The joints in the units of this project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Joints {
    /// When.
    pub timestamp: Time,
    /// J1 to J6, and J7 with the gripper.
    pub joints: Vec<Joint>,
}

impl Message for Joints {
    const SCHEMA_NAME: &'static str = "atom_sim.Joints";
}

/// A sample of the motion sensor on the link between J5 and J6, in its axes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Imu {
    /// When.
    pub timestamp: Time,
    /// The link it sits on.
    pub frame_id: &'static str,
    /// Acceleration (g).
    pub acceleration_g: Vector3,
    /// Angular rate (°/s).
    pub angular_rate_dps: Vector3,
}

impl Message for Imu {
    const SCHEMA_NAME: &'static str = "atom_sim.Imu";
}

/// The controller's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct State {
    /// When.
    pub timestamp: Time,
    /// Its name: holding, playing, …
    pub state: &'static str,
    /// Its number in the protocol.
    pub number: u8,
    /// Who has control; empty for nobody.
    pub control: String,
    /// Joints in use, 6 or 7.
    pub joints: u8,
    /// A valid plan is there.
    pub plan_valid: bool,
}

impl Message for State {
    const SCHEMA_NAME: &'static str = "atom_sim.State";
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Routine: requests that come all the time, status log lines.
    Debug = 1,
    /// Worth reading.
    Info = 2,
    /// Refusals, faults, runs that did not end well.
    Warning = 3,
}

/// An event in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Log {
    /// When.
    pub timestamp: Time,
    /// 1 debug, 2 info, 3 warning; see [`Severity`].
    pub level: u8,
    /// What happened.
    pub message: String,
    /// Who says so.
    pub name: &'static str,
    /// Viewers expect a source file; there is none.
    pub file: &'static str,
    /// Viewers expect a line of it.
    pub line: u32,
}

impl Message for Log {
    const SCHEMA_NAME: &'static str = "foxglove.Log";
}

impl Log {
    /// An event.
    pub fn new(t_us: u64, severity: Severity, message: String) -> Self {
        let timestamp = Time::from_us(t_us);
        Self { timestamp, level: severity as u8, message, name: "atom-sim", file: "", line: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn parsed<M: Message>() -> Value {
        serde_json::from_slice(&schema::<M>().expect("a schema")).expect("JSON")
    }

    #[test]
    fn schemas_have_the_names_and_times_by_which_viewers_know_them_and_no_references() {
        let pose = parsed::<PoseInFrame>();
        assert_eq!(pose["title"], "foxglove.PoseInFrame");
        assert_eq!(pose["type"], "object");
        assert_eq!(pose["properties"]["timestamp"]["title"], "time");
        assert_eq!(pose["properties"]["timestamp"]["properties"]["nsec"]["type"], "integer");
        assert_eq!(pose["properties"]["pose"]["properties"]["position"]["properties"]["x"]["type"], "number");
        for schema in
            [parsed::<FrameTransforms>(), parsed::<JointStates>(), parsed::<Joints>(), parsed::<Log>()]
        {
            assert!(!schema.to_string().contains("$ref"), "{schema}");
        }
    }

    #[test]
    fn a_field_that_may_be_left_out_has_one_type_and_is_not_required() {
        let joint = &parsed::<Joints>()["properties"]["joints"]["items"];
        assert_eq!(joint["properties"]["true_deg"]["type"], "number");
        let required: Vec<&str> =
            joint["required"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(required, ["name", "goal_deg", "measured_deg", "speed_dps", "load_percent"]);
    }

    #[test]
    fn a_time_is_split_into_seconds_and_nanoseconds() {
        assert_eq!(Time::from_us(3_000_250), Time { sec: 3, nsec: 250_000 });
    }
}
