//! The wire against example messages of the interface; see data/README.md.

use std::collections::BTreeMap;

use firmware_core::motion::signal::Params;
use firmware_core::platform::ImuSample;
use firmware_core::protocol::layout::Layout;
use firmware_core::protocol::motion::{Frame, Jog, WireJoints};
use firmware_core::protocol::plan::{Play, PlaySignal};
use firmware_core::protocol::stream::Joints;
use firmware_core::protocol::telemetry::Packet;
use firmware_core::protocol::{ApiLevel, Reply, Request, codes};
use firmware_core::shared::PlayParams;
use firmware_core::units::steps_to_deg;

/// Named values of one message, as the file lists them.
#[derive(Default)]
struct Described(BTreeMap<String, Vec<f64>>);

impl Described {
    fn put(&mut self, name: &str, values: impl IntoIterator<Item = impl Into<f64>>) {
        self.0.insert(name.to_owned(), values.into_iter().map(Into::into).collect());
    }

    fn one(&mut self, name: &str, value: impl Into<f64>) {
        self.put(name, [value.into()]);
    }

    fn tenths(&mut self, name: &str, values: impl IntoIterator<Item = i16>) {
        self.put(name, values.into_iter().map(|raw| f64::from(raw) / 10.0));
    }

    fn goal(&mut self, goal: &WireJoints) {
        self.put("goal_deg", goal.as_slice().iter().map(|raw| f64::from(*raw) / 100.0));
    }

    fn play(&mut self, params: PlayParams) {
        self.one("rate_hz", params.rate_hz);
        self.one("speed_cap", params.speed_cap_sps);
        self.one("max_error_steps", params.max_error_steps);
        self.one("start_tol_steps", params.start_tolerance_steps);
    }

    fn signal(&mut self, signal: &Params) {
        self.one("joint", signal.joint);
        self.one("kind", signal.kind);
        self.one("amp_deg", signal.amp_deg);
        self.one("f0_hz", signal.f0_hz);
        self.one("f1_hz", signal.f1_hz);
        self.one("duration_s", signal.duration_s);
        self.one("vmax_dps", signal.vmax_dps);
        self.one("amax_dps2", signal.amax_dps2);
        self.put("base_cdeg", signal.base_cdeg);
    }

    fn imu(&mut self, prefix: &str, suffix: &str, imu: &ImuSample) {
        self.put(&format!("{prefix}acc{suffix}"), imu.acc);
        self.put(&format!("{prefix}gyro{suffix}"), imu.gyro);
    }

    fn seen(&mut self, seen: &Joints) {
        let n = usize::from(seen.n);
        let joints = &seen.joints;
        let deg = |raw: &[u16]| -> Vec<f64> {
            raw.iter()
                .enumerate()
                .map(|(joint, steps)| f64::from(steps_to_deg(joint, i32::from(*steps))))
                .collect()
        };
        self.one("ok", u8::from(joints.ok));
        self.one("n", seen.n);
        self.put("pos_raw", joints.position[..n].iter().copied());
        self.put("pos_deg", deg(&joints.position[..n]));
        self.put("goal_raw", joints.goal[..n].iter().copied());
        self.put("goal_deg", deg(&joints.goal[..n]));
        self.put("speed_raw", joints.speed[..n].iter().copied());
        self.put("load_raw", joints.load[..n].iter().copied());
        self.put("temp_c", joints.temperature_c[..n].iter().copied());
        self.put("volt_v", joints.voltage_dv[..n].iter().map(|raw| f64::from(*raw) / 10.0));
        self.put("status", joints.status[..n].iter().copied());
        self.imu("", "_raw", &seen.imu);
    }

    fn telemetry(&mut self, packet: &Packet) {
        self.one("first_sequence", packet.first_sequence);
        self.one("n", packet.samples.len() as u32);
        for (k, sample) in packet.samples.iter().enumerate() {
            let n = sample.n;
            self.one(&format!("{k}.t_us"), sample.t_us);
            self.put(&format!("{k}.cmd"), sample.cmd[..n].iter().copied());
            self.put(&format!("{k}.ref"), sample.reference[..n].iter().copied());
            self.put(&format!("{k}.pos"), sample.position[..n].iter().copied());
            self.put(&format!("{k}.speed"), sample.speed[..n].iter().copied());
            self.put(&format!("{k}.load"), sample.load[..n].iter().copied());
            self.imu(&format!("{k}."), "", &sample.imu);
            self.one(&format!("{k}.ok"), u8::from(sample.ok));
        }
    }
}

fn describe_request(request: &Request<'_>, code: u8) -> Described {
    let mut d = Described::default();
    match request {
        Request::Ping | Request::State | Request::Hold | Request::Stop => d.one("code", code),
        Request::PlanBegin(begin) => {
            d.one("samples", begin.samples);
            d.one("rate_hz", begin.rate_hz);
            d.one("interpolation", u8::from(begin.is_cubic()));
            d.one("joints", begin.joints() as u32);
        }
        Request::PlanData { head, samples } => {
            d.one("offset", head.offset);
            d.one("count", head.count);
            let values: Vec<u16> =
                samples.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            let joints = values.len() / usize::from(head.count) / 2;
            for (k, sample) in values.chunks(2 * joints).enumerate() {
                d.put(&format!("cmd{k}"), sample[..joints].iter().copied());
                d.put(&format!("ref{k}"), sample[joints..].iter().copied());
            }
        }
        Request::PlanEnd(end) => d.one("crc32c", end.crc32c),
        Request::Play(Play { params }) => d.play(*params),
        Request::PlaySignal(PlaySignal { params, signal }) => {
            d.play(*params);
            d.signal(signal);
        }
        Request::RegisterRead(registers) | Request::RegisterWrite { registers, .. } => {
            d.one("id", registers.id);
            d.one("address", registers.address);
            d.one("length", registers.length);
            if let Request::RegisterWrite { data, .. } = request {
                d.put("data", data.iter().copied());
            }
        }
        Request::Subscribe { rate_hz } => d.one("rate_hz", *rate_hz),
        Request::Control(action) => d.one("action", action.byte()),
        Request::MoveTo(move_to) => {
            d.goal(&move_to.goal_cdeg);
            d.one("duration_ms", move_to.duration_ms);
        }
        Request::Jog(Jog::Joints(joints)) => {
            d.one("frame", 0);
            d.tenths("velocity_dps", joints.velocity_ddps.as_slice().iter().copied());
        }
        Request::Jog(Jog::Twist(twist)) => {
            d.one("frame", if twist.frame == Frame::Base { 1 } else { 2 });
            d.tenths("linear_mm_s", twist.linear_dmm_s);
            d.tenths("angular_dps", twist.angular_ddps);
            d.tenths("j7_dps", [twist.j7_ddps]);
            d.one("vmax_dps", f64::from(twist.speed_cap_ddps) / 10.0);
        }
        Request::Track(track) => {
            d.goal(&track.goal_cdeg);
            d.one("vmax_dps", f64::from(track.vmax_ddps) / 10.0);
        }
        Request::Gripper(gripper) => d.one("opening_permille", gripper.opening_permille),
    }
    d
}

fn describe_reply(reply: &Reply) -> Described {
    let mut d = Described::default();
    match reply {
        Reply::Pong(pong) => {
            d.one("version", pong.major);
            d.one("state", pong.state);
            d.one("plan_samples", pong.plan_samples);
            d.one("plan_rate", pong.plan_rate_hz);
            d.one("imu_ok", u8::from(pong.imu_ok));
            d.one("gains_ok", u8::from(pong.gains_ok));
            d.one("minor", pong.minor);
            d.one("patch", pong.patch);
        }
        Reply::Ack(ack) => {
            d.one("code", ack.code);
            d.one("status", ack.status);
            d.one("value", ack.value);
        }
        Reply::Done(done) => {
            d.one("result", done.result);
            d.one("cycles", done.cycles);
            d.one("max_period_us", done.longest_period_us);
            d.one("late_cycles", done.late_cycles);
            d.one("telem_dropped", done.telemetry_dropped);
            d.one("joint", done.joint);
            d.one("error_steps", done.error_steps);
        }
        Reply::RegisterValues(values) => {
            d.one("id", values.id);
            d.one("address", values.address);
            d.one("length", values.length);
            d.one("status", values.status);
            d.put("data", values.data.iter().copied());
        }
        Reply::RegisterWritten(written) => {
            d.one("id", written.id);
            d.one("address", written.address);
            d.one("status", written.status);
            d.one("servo_error", written.servo_error);
        }
        Reply::State(seen) => d.seen(seen),
        Reply::Stream(stream) => {
            d.one("t_ms", stream.t_ms);
            d.one("state", stream.state);
            d.one("control", stream.control);
            d.seen(&stream.seen);
        }
        Reply::Telemetry(packet) => d.telemetry(packet),
    }
    d
}

fn encode_reply(reply: &Reply, level: ApiLevel) -> Vec<u8> {
    match reply {
        Reply::Pong(pong) => pong.encode::<64>().to_vec(),
        Reply::Ack(ack) => ack.encode::<64>().to_vec(),
        Reply::Done(done) => done.encode::<64>().to_vec(),
        Reply::RegisterValues(values) => values.encode::<64>().to_vec(),
        Reply::RegisterWritten(written) => written.encode::<64>().to_vec(),
        Reply::State(seen) => seen.encode(level).to_vec(),
        Reply::Stream(stream) => stream.encode(level).to_vec(),
        Reply::Telemetry(packet) => packet.encode().to_vec(),
    }
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().map(|c| c.to_digit(16).expect("a hex digit")).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn numbers(name: &str, text: &str) -> Vec<f64> {
    match name {
        "data" => from_hex(text).into_iter().map(f64::from).collect(),
        "crc32c" => vec![f64::from(u32::from_str_radix(text, 16).expect("a CRC"))],
        _decimal => {
            let list = text.trim_matches(['[', ']']).split(' ');
            list.map(|number| number.parse().unwrap_or_else(|_| panic!("{name}={text}"))).collect()
        }
    }
}

/// The value in units of a raw value that is compared itself.
fn is_derived(name: &str) -> bool {
    ["speed_dps", "load_pct", "acc_g", "gyro_dps"].contains(&name)
}

fn assert_fields(row: &str, found: &Described, fields: &str) {
    for field in fields.split(';') {
        let (name, text) = field.split_once('=').expect("name=value");
        if is_derived(name) {
            continue;
        }
        let expected = numbers(name, text);
        let found = found.0.get(name).unwrap_or_else(|| panic!("row {row}: {name} is not decoded"));
        assert_eq!(found.len(), expected.len(), "row {row}: {name}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= 1e-6 * expected.abs(),
                "row {row}: {name}={found}, not {expected}"
            );
        }
    }
}

#[test]
fn every_example_message_decodes_to_its_fields_and_encodes_to_its_bytes() {
    let (mut requests, mut replies) = (0, 0);
    for line in include_str!("data/protocol.csv").lines().skip(1) {
        let columns: Vec<&str> = line.splitn(7, ',').collect();
        let (row, name, bytes) = (columns[0], columns[1], from_hex(columns[4]));
        assert_eq!(bytes.len(), columns[3].parse::<usize>().expect("a length"), "row {row}");
        let level = if name.ends_with("before_5") { ApiLevel::V4_4 } else { ApiLevel::V5_1 };
        if columns[2] == "to_controller" {
            let request = Request::decode(&bytes, level).unwrap_or_else(|error| panic!("row {row}: {error}"));
            assert_fields(row, &describe_request(&request, bytes[0]), columns[5]);
            assert_eq!(request.encode::<1500>().expect("fits").as_slice(), bytes, "row {row}");
            requests += 1;
        } else {
            let reply = Reply::decode(&bytes).unwrap_or_else(|error| panic!("row {row}: {error}"));
            assert_fields(row, &describe_reply(&reply), columns[5]);
            assert_eq!(encode_reply(&reply, level), bytes, "row {row}");
            replies += 1;
        }
    }
    assert_eq!((requests, replies), (44, 39));
}

#[test]
fn each_api_level_has_its_stream_and_state_layout() {
    let lengths = ApiLevel::ALL.map(|level| {
        let stream = firmware_core::protocol::stream::Stream {
            seen: Joints { n: if level.has_j7() { 7 } else { 6 }, ..Joints::default() },
            ..Default::default()
        };
        let bytes = stream.encode(level);
        assert_eq!(Reply::decode(&bytes), Ok(Reply::Stream(stream)), "{level:?}");
        let state = stream.seen.encode(level);
        assert_eq!(Reply::decode(&state), Ok(Reply::State(stream.seen)), "{level:?}");
        (bytes.len(), state.len())
    });
    assert_eq!(lengths, [(73, 50), (74, 50), (74, 50), (79, 50), (98, 71), (98, 71)]);
}

#[test]
fn requests_that_a_level_does_not_have_are_unknown_to_it() {
    use firmware_core::protocol::RequestError;
    let first_with = |code: u8| {
        ApiLevel::ALL
            .into_iter()
            .find(|level| !matches!(Request::decode(&[code], *level), Err(RequestError::UnknownCode { .. })))
    };
    assert_eq!(first_with(codes::SUBSCRIBE), Some(ApiLevel::V4_1));
    assert_eq!(first_with(codes::CONTROL), Some(ApiLevel::V4_2));
    assert_eq!(first_with(codes::MOVE_TO), Some(ApiLevel::V4_2));
    assert_eq!(first_with(codes::JOG), Some(ApiLevel::V4_2));
    assert_eq!(first_with(codes::TRACK), Some(ApiLevel::V4_4));
    assert_eq!(first_with(codes::GRIPPER), Some(ApiLevel::V4_6));
    assert_eq!(first_with(0x12), None);
    assert_eq!(first_with(0x00), None);
    let unknown = RequestError::UnknownCode { code: codes::GRIPPER, level: ApiLevel::V5_0 };
    assert_eq!(Request::decode(&[codes::GRIPPER, 0, 0], ApiLevel::V5_0), Err(unknown));
}

#[test]
fn before_5_0_messages_of_seven_values_have_no_form_and_before_5_1_end_effector_jog_has_none() {
    let has_form = |bytes: &[u8], level| Request::decode(bytes, level).is_ok();
    for (six, seven) in [
        (vec![codes::MOVE_TO; 15], vec![codes::MOVE_TO; 17]),
        (vec![codes::TRACK; 15], vec![codes::TRACK; 17]),
        ([vec![codes::JOG, 0], vec![0; 12]].concat(), [vec![codes::JOG, 0], vec![0; 14]].concat()),
    ] {
        for level in [ApiLevel::V4_4, ApiLevel::V4_6] {
            assert!(has_form(&six, level) && !has_form(&seven, level), "{six:?} {level:?}");
        }
        for level in [ApiLevel::V5_0, ApiLevel::V5_1] {
            assert!(has_form(&six, level) && has_form(&seven, level), "{six:?} {level:?}");
        }
    }
    let twist = [vec![codes::JOG, 1], vec![0; 16]].concat();
    assert!(!has_form(&twist, ApiLevel::V5_0) && has_form(&twist, ApiLevel::V5_1));
}
