//! Requests that start a run or go on with one: PLAY, PLAY_SIGNAL, MOVE_TO, JOG, TRACK, GRIPPER.

use super::activity::{Activity, Kind};
use super::message::{Message, code_of};
use super::side::Network;
use crate::joints::{JOINTS, JointValues, SPEED_LIMIT_DPS};
use crate::motion::min_jerk;
use crate::motion::signal::Refusal;
use crate::platform::NetworkPort;
use crate::protocol::motion::{
    Frame, Gripper, Jog, JogTwist, MoveTo, OPENING_MAX_PERMILLE, TORQUE_OFF, Track, WireJoints,
};
use crate::protocol::plan::{Play, PlaySignal};
use crate::protocol::{ApiLevel, codes};
use crate::shared::{GripperGoal, Request, Stream, StreamCommand};

/// Wire units of an angle in one degree: 0.01°.
const ANGLE_UNITS: f32 = 100.0;
/// Wire units of a speed in one °/s or mm/s: a tenth.
const SPEED_UNITS: f32 = 10.0;

impl Network {
    pub(super) fn play(
        &mut self,
        Play { params }: Play,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        if !message.shared.plan.is_valid() {
            return Err(codes::REFUSED);
        }
        idle(message.activity)?;
        self.post_run(message, Request::Play { client: message.from, params });
        Ok(())
    }

    pub(super) fn play_signal(
        &mut self,
        PlaySignal { params, signal }: PlaySignal,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        idle(message.activity)?;
        signal.validate(message.level.table()).map_err(Refusal::ack_status)?;
        self.post_run(message, Request::PlaySignal { client: message.from, params, signal });
        Ok(())
    }

    pub(super) fn move_to(
        &mut self,
        move_to: &MoveTo,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        gripper_for(move_to.goal_cdeg, message)?;
        idle(message.activity)?;
        let goal = joint_values(move_to.goal_cdeg, ANGLE_UNITS);
        inside_limits(&goal, message.level)?;
        let duration_ms = move_to.duration_ms;
        self.post_run(message, Request::MoveTo { client: message.from, goal, duration_ms });
        Ok(())
    }

    pub(super) fn jog(&mut self, jog: &Jog, message: &mut Message<'_, impl NetworkPort>) -> Result<(), i8> {
        let command = match jog {
            Jog::Joints(joints) => {
                gripper_for(joints.velocity_ddps, message)?;
                StreamCommand::Joints(joint_values(joints.velocity_ddps, SPEED_UNITS))
            }
            Jog::Twist(twist) => {
                if twist.j7_ddps != 0 && !message.has_gripper() {
                    return Err(codes::NO_GRIPPER);
                }
                twist_command(twist)
            }
        };
        self.stream(command, message)
    }

    pub(super) fn track(
        &mut self,
        track: &Track,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        gripper_for(track.goal_cdeg, message)?;
        let goal = joint_values(track.goal_cdeg, ANGLE_UNITS);
        inside_limits(&goal, message.level)?;
        self.stream(StreamCommand::Track { goal, vmax_dps: speed_cap_dps(track.vmax_ddps) }, message)
    }

    /// A streamed command that passed its own checks: starts the run, or goes on with it.
    fn stream(
        &mut self,
        command: StreamCommand,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        let starts = match message.activity {
            Activity::Idle => true,
            Activity::Busy(Kind::Stream) => false,
            Activity::Away
            | Activity::Error
            | Activity::Busy(Kind::Play | Kind::Move | Kind::Register | Kind::Hold | Kind::Update) => {
                return Err(codes::REFUSED);
            }
        };
        if message.now_us < self.stream_blocked_until_us {
            return Err(codes::REFUSED);
        }
        let running = message.shared.stream.filter(|_| !starts);
        let same_mode = running.is_none_or(|stream| code_of(&stream.command) == code_of(&command));
        if !same_mode && !message.level.switches_streamed_modes() {
            return Err(codes::REFUSED);
        }
        let client = message.from;
        message.shared.stream = Some(Stream { client, command, t_us: message.now_us, abandoned: false });
        if starts {
            self.post_run(message, Request::Stream(client));
        }
        Ok(())
    }

    /// GRIPPER works whatever runs, but PLAY.
    pub(super) fn gripper(
        Gripper { opening_permille }: Gripper,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        let goal = match opening_permille {
            TORQUE_OFF => GripperGoal::TorqueOff,
            0..=OPENING_MAX_PERMILLE => GripperGoal::Opening { permille: opening_permille },
            _above => return Err(codes::REFUSED),
        };
        if message.activity.plays() || !message.has_gripper() {
            return Err(codes::REFUSED);
        }
        message.shared.gripper_goal = Some(goal);
        message.shared.doorbell = true;
        Ok(())
    }

    /// Posts a request that starts a run: an earlier STOP is over.
    fn post_run(&mut self, message: &mut Message<'_, impl NetworkPort>, request: Request) {
        message.shared.stop = false;
        self.post(message.shared, request);
    }
}

fn idle(activity: Activity) -> Result<(), i8> {
    match activity {
        Activity::Idle => Ok(()),
        Activity::Away | Activity::Error | Activity::Busy(_) => Err(codes::REFUSED),
    }
}

/// Seven values need the gripper.
fn gripper_for(joints: WireJoints, message: &mut Message<'_, impl NetworkPort>) -> Result<(), i8> {
    if joints.n == JOINTS && !message.has_gripper() { Err(codes::NO_GRIPPER) } else { Ok(()) }
}

/// Every goal is inside its limits less the margin.
fn inside_limits(goal: &JointValues, level: ApiLevel) -> Result<(), i8> {
    min_jerk::first_joint_outside(goal, level.table())
        .map_or(Ok(()), |joint| Err(codes::outside_limits(joint)))
}

fn joint_values(joints: WireJoints, units: f32) -> JointValues {
    JointValues { values: joints.values.map(|raw| f32::from(raw) / units), n: joints.n }
}

fn speed_cap_dps(raw: u16) -> f32 {
    (f32::from(raw) / SPEED_UNITS).min(SPEED_LIMIT_DPS)
}

fn twist_command(twist: &JogTwist) -> StreamCommand {
    let speed = |raw: i16| f32::from(raw) / SPEED_UNITS;
    StreamCommand::Twist {
        tool: match twist.frame {
            Frame::Base => false,
            Frame::Tool => true,
        },
        linear_mm_s: twist.linear_dmm_s.map(speed),
        angular_rad_s: twist.angular_ddps.map(|raw| speed(raw).to_radians()),
        j7_dps: speed(twist.j7_ddps),
        speed_cap_dps: speed_cap_dps(twist.speed_cap_ddps),
    }
}
