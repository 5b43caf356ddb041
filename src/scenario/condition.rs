//! What can be expected or waited for: the types of `when` and `that` in a scenario file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::atom::StateName;

/// Limits of a number. Each that is given must hold.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
    /// This, give or take `by`.
    pub near: Option<f64>,
    /// The tolerance of `near`; 0 when it is not given.
    pub by: Option<f64>,
}

/// Makes a struct with the fields of [`Bounds`] beside its own, and a way to get at them.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident : $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// At least this.
            pub min: Option<f64>,
            /// At most this.
            pub max: Option<f64>,
            /// This, give or take `by`.
            pub near: Option<f64>,
            /// The tolerance of `near`; 0 when it is not given.
            pub by: Option<f64>,
        }

        impl $name {
            /// The limits.
            pub fn bounds(&self) -> Bounds {
                Bounds { min: self.min, max: self.max, near: self.near, by: self.by }
            }
        }
    };
}

bounded! {
    /// A number of one joint, or of all.
    JointNumber {
        /// Joint, 1–7; every joint of the arm (J1–J6) when it is not given.
        joint: Option<u8>,
    }
}

bounded! {
    /// Motion of the TCP since a time.
    TcpNumber {
        /// The time of the pose it is compared with (s); the start when it is not given.
        since_s: Option<f64>,
        /// `x`, `y` or `z` (base frame); the distance when it is not given.
        axis: Option<Axis>,
        /// Computed from the joints' goals or from their true angles.
        of: Option<Pose>,
    }
}

bounded! {
    /// Distance of the TCP from a straight line through where it was at a time.
    TcpLine {
        /// The time of the point on the line (s); the start when it is not given.
        since_s: Option<f64>,
        /// The line's direction in the base frame.
        direction: [f64; 3],
        /// Computed from the joints' goals or from their true angles.
        of: Option<Pose>,
    }
}

bounded! {
    /// How often a client got a reply.
    ReplyCount {
        /// The client.
        client: String,
        /// Which reply.
        reply: ReplyName,
        /// For an ACK: the request it answers.
        to: Option<RequestName>,
        /// For an ACK and the register replies: the status.
        status: Option<i8>,
        /// For DONE: the result.
        result: Option<u8>,
        /// For DONE: the joint.
        joint: Option<u8>,
        /// For an ACK: the value.
        value: Option<u32>,
        /// Counted from this time on (s).
        since_s: Option<f64>,
    }
}

bounded! {
    /// A field of the last DONE that a client got.
    DoneNumber {
        /// The client.
        client: String,
        /// The field.
        field: DoneField,
    }
}

bounded! {
    /// Something about the STREAM packets that a client got.
    StreamNumber {
        /// The client.
        client: String,
        /// What.
        field: StreamField,
        /// For `packets` and `longest_gap_ms`: from this time on (s).
        since_s: Option<f64>,
    }
}

bounded! {
    /// Something about the telemetry that a client got.
    TelemetryNumber {
        /// The client.
        client: String,
        /// What.
        field: TelemetryField,
    }
}

bounded! {
    /// Time from the sending of a labelled step to the first reply to it (ms).
    ReplyDelay {
        /// The step's label.
        step: String,
    }
}

bounded! {
    /// A number of the last status log line.
    StatusNumber {
        /// Its key, for instance `wifi_drops`.
        key: String,
    }
}

bounded! {
    /// Pixels of the LED matrix that have a colour.
    LedPixels {
        /// Red, green, blue.
        rgb: [u8; 3],
    }
}

bounded! {
    /// A register of a servo.
    RegisterNumber {
        /// Joint, 1–7.
        joint: u8,
        /// Address, 0–86.
        address: u8,
        /// Bytes, 1 or 2 (little-endian); 1 when it is not given.
        bytes: Option<u8>,
    }
}

bounded! {
    /// A counter of the servo bus.
    BusNumber {
        /// Which.
        counter: BusCounter,
    }
}

/// An axis of the base frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Ahead.
    X,
    /// Left.
    Y,
    /// Up.
    Z,
}

/// Which joint angles a TCP is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pose {
    /// The joints' goals.
    #[default]
    Goals,
    /// Their true angles.
    Truth,
}

/// A reply of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyName {
    /// PONG.
    Pong,
    /// STATE.
    State,
    /// ACK.
    Ack,
    /// TELEM.
    Telem,
    /// DONE.
    Done,
    /// The reply to REG_READ.
    Register,
    /// The reply to REG_WRITE.
    Written,
    /// STREAM.
    Stream,
}

/// A request of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestName {
    /// HOLD.
    Hold,
    /// PLAN_BEGIN.
    PlanBegin,
    /// PLAN_DATA.
    PlanData,
    /// PLAN_END.
    PlanEnd,
    /// PLAY.
    Play,
    /// STOP.
    Stop,
    /// PLAY_SIGNAL.
    PlaySignal,
    /// CONTROL.
    Control,
    /// MOVE_TO.
    MoveTo,
    /// JOG.
    Jog,
    /// TRACK.
    Track,
}

/// A field of DONE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoneField {
    /// 0 done, 1 tracking error, 2 stopped, 3 not at the start pose, 4 bus error.
    Result,
    /// Control cycles.
    Cycles,
    /// Longest period (µs).
    LongestPeriodUs,
    /// Late cycles.
    LateCycles,
    /// Telemetry samples dropped.
    Dropped,
    /// Joint, 0 = none.
    Joint,
    /// Error (steps).
    ErrorSteps,
}

/// Something about STREAM packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamField {
    /// How many came.
    Packets,
    /// Longest time between two (ms).
    LongestGapMs,
    /// Time since the last (ms).
    AgeMs,
    /// Last packet: ok.
    Ok,
    /// Last packet: control, 0 nobody, 1 the receiver, 2 another.
    Control,
    /// Last packet: joints.
    N,
    /// Last packet: servo status bits of all joints.
    Status,
    /// Last packet: the hottest joint (°C).
    Celsius,
    /// Last packet: the lowest voltage (V).
    Volts,
    /// Last packet: acceleration, absolute value (g).
    AccG,
}

/// Something about telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TelemetryField {
    /// Samples that came.
    Samples,
    /// Samples missing between the first and the last that came.
    Missing,
    /// Joints of the last sample.
    N,
}

/// A counter of the servo bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusCounter {
    /// Bytes the controller sent.
    BytesSent,
    /// Bytes the servos sent.
    BytesAnswered,
    /// Requests the servos took.
    Requests,
    /// Replies of servos.
    Replies,
    /// Packets with a wrong checksum.
    BadChecksums,
    /// Bytes that belonged to no packet.
    StrayBytes,
    /// SYNC WRITEs lost to a servo.
    LostSyncWrites,
}

/// Replies that a client got, in this order, whatever came between.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The client.
    pub client: String,
    /// The replies.
    pub replies: Vec<ReplyPattern>,
}

/// One reply of an order.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyPattern {
    /// Which reply.
    pub reply: ReplyName,
    /// For an ACK: the request it answers.
    pub to: Option<RequestName>,
    /// For an ACK and the register replies: the status.
    pub status: Option<i8>,
    /// For DONE: the result.
    pub result: Option<u8>,
}

/// Something that is true or not at a moment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The controller's state.
    State(StateName),
    /// True joint angle (°).
    AngleDeg(JointNumber),
    /// Goal register of a joint (°).
    GoalDeg(JointNumber),
    /// Distance between goal and angle, absolute value (°).
    GoalErrorDeg(JointNumber),
    /// True joint speed, absolute value (°/s).
    SpeedDps(JointNumber),
    /// Speed of the goal, absolute value (°/s), over the last 50 ms: goals are whole steps.
    GoalSpeedDps(JointNumber),
    /// Change of the goal's speed, absolute value (°/s²), between two stretches of 50 ms.
    GoalAccelDps2(JointNumber),
    /// Load (% of full torque).
    LoadPercent(JointNumber),
    /// Temperature of a servo (°C).
    TemperatureC(JointNumber),
    /// Voltage at a servo (V).
    VoltageV(JointNumber),
    /// Torque of a joint is on (1) or off (0).
    TorqueOn(JointNumber),
    /// Position of the TCP (mm, base frame).
    TcpMm(TcpNumber),
    /// Motion of the TCP since a time (mm).
    TcpMovedMm(TcpNumber),
    /// Distance of the TCP from a line (mm).
    TcpOffLineMm(TcpLine),
    /// Turn of the tool since a time (°).
    TcpTurnedDeg(TcpNumber),
    /// Pixels of the LED matrix that have a colour.
    Led(LedPixels),
    /// Who has control: a client's name, or `nobody`.
    Holder(String),
    /// Joints in use, 6 or 7.
    JointsInUse(u8),
    /// A valid plan is there.
    PlanValid(bool),
    /// How often a client got a reply.
    Replies(ReplyCount),
    /// Replies in order.
    Order(Order),
    /// Time from a labelled step to its reply (ms).
    ReplyDelayMs(ReplyDelay),
    /// A field of the last DONE.
    Done(DoneNumber),
    /// STREAM packets.
    Stream(StreamNumber),
    /// Telemetry.
    Telemetry(TelemetryNumber),
    /// A number of the last status log line.
    Status(StatusNumber),
    /// The last status log line contains this text.
    StatusContains(String),
    /// A register of a servo.
    Register(RegisterNumber),
    /// A counter of the servo bus.
    Bus(BusNumber),
    /// A client's connection is open.
    Connected(String),
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
}

impl Bounds {
    /// Nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none() && self.near.is_none()
    }

    /// `value` keeps every limit. NaN keeps none.
    pub fn hold(&self, value: f64) -> bool {
        !value.is_nan()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
            && self.near.is_none_or(|near| (value - near).abs() <= self.by.unwrap_or(0.0))
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        match (self.min, self.max) {
            (Some(min), Some(max)) if (max - min).abs() < f64::EPSILON => parts.push(format!("{min}")),
            (Some(min), Some(max)) => parts.push(format!("{min} to {max}")),
            (Some(min), None) => parts.push(format!("at least {min}")),
            (None, Some(max)) => parts.push(format!("at most {max}")),
            (None, None) => {}
        }
        if let Some(near) = self.near {
            parts.push(match self.by {
                Some(by) => format!("{near} ± {by}"),
                None => format!("{near}"),
            });
        }
        f.write_str(&parts.join(" and "))
    }
}
