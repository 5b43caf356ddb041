//! The table of faults, second half: radio, clients, processor, power, update, memory and button.

use super::entry::Lasting::{Event, Micros, UntilCleared};
use super::entry::{Entry, Parameter, ParameterKind, entry, maybe, number, or, whole};
use super::kind::{ClientFault, CpuFault, FaultKind, OtaEvent, PowerFault, WifiFault};
use super::parse::Arguments;

const CLIENT: Parameter =
    Parameter { name: "client", kind: ParameterKind::Client, required: true, default: None };
const DIRECTION: Parameter =
    Parameter { name: "direction", kind: ParameterKind::Direction, required: false, default: None };

/// How long a power cycle leaves things without power unless a duration says otherwise (µs).
const OFF_US: u64 = 200_000;

fn wifi(a: &Arguments, fault: WifiFault) -> FaultKind {
    FaultKind::Wifi { client: a.client(), direction: a.direction(), fault }
}

fn client(a: &Arguments, fault: ClientFault) -> Option<FaultKind> {
    Some(FaultKind::Client { client: a.client()?, fault })
}

fn ms_to_us(ms: f64) -> u64 {
    libm::round(ms * 1_000.0) as u64
}

/// Faults of the world around the arm.
pub(super) const TABLE: &[Entry] = &[
    entry!(
        "wifi.stall",
        UntilCleared,
        [maybe(CLIENT), DIRECTION],
        |a| Some(wifi(a, WifiFault::Stall)),
        "Nothing passes; at the end all that waited comes at once, UDP as far as the buffer of 32 KiB held it.",
        "A gap, then a burst. A gap above 200 ms trips the deadman of a JOG or TRACK."
    ),
    entry!(
        "wifi.latency",
        UntilCleared,
        [maybe(CLIENT), DIRECTION, number("ms", 0.0, 10_000.0, "ms")],
        |a| Some(wifi(a, WifiFault::Latency(ms_to_us(a.number("ms"))))),
        "Further delay.",
        "Later replies."
    ),
    entry!(
        "wifi.jitter",
        UntilCleared,
        [maybe(CLIENT), DIRECTION, number("ms", 0.0, 10_000.0, "ms")],
        |a| Some(wifi(a, WifiFault::Jitter(ms_to_us(a.number("ms"))))),
        "Further delay, uniform up to this.",
        "Uneven replies."
    ),
    entry!(
        "wifi.loss",
        UntilCleared,
        [maybe(CLIENT), DIRECTION, number("chance", 0.0, 1.0, "")],
        |a| Some(wifi(a, WifiFault::Loss(a.number("chance")))),
        "Each datagram is lost with this probability; on a WebSocket it comes 200 ms later, and all behind it.",
        "Missing requests and replies; gaps in telemetry."
    ),
    entry!(
        "wifi.duplicate",
        UntilCleared,
        [maybe(CLIENT), DIRECTION, number("chance", 0.0, 1.0, "")],
        |a| Some(wifi(a, WifiFault::Duplicate(a.number("chance")))),
        "Each datagram comes twice with this probability. WebSockets are not affected.",
        "Requests answered twice."
    ),
    entry!(
        "wifi.reorder",
        UntilCleared,
        [
            maybe(CLIENT),
            DIRECTION,
            number("chance", 0.0, 1.0, ""),
            or(number("by_ms", 0.0, 10_000.0, "ms"), 30.0)
        ],
        |a| Some(wifi(
            a,
            WifiFault::Reorder { probability: a.number("chance"), by_us: ms_to_us(a.number("by_ms")) }
        )),
        "Each datagram is held back with this probability, so that later ones overtake it. WebSockets are not affected.",
        "Replies out of order."
    ),
    entry!(
        "wifi.bandwidth",
        UntilCleared,
        [maybe(CLIENT), DIRECTION, whole("bytes_s", 1.0, 100_000_000.0, "bytes/s")],
        |a| Some(wifi(a, WifiFault::Bandwidth(a.number("bytes_s") as u32))),
        "No more than this passes; a full buffer loses what does not fit (5,760 bytes for a WebSocket).",
        "Late packets, gaps in STREAM and TELEM."
    ),
    entry!(
        "wifi.drop",
        Micros(1_000_000),
        [],
        |_| Some(FaultKind::Wifi { client: None, direction: None, fault: WifiFault::Drop }),
        "The association is lost; the ATOM tries to join every 15 s and succeeds once the fault is over.",
        "Silence; afterwards `wifi_drops` has grown by 1."
    ),
    entry!(
        "wifi.address",
        Event,
        [Parameter {
            name: "ip",
            kind: ParameterKind::Numbers { count: 4, min: 0.0, max: 255.0, integer: true, unit: "" },
            required: true,
            default: None
        }],
        |a| Some(FaultKind::Wifi {
            client: None,
            direction: None,
            fault: WifiFault::Address(a.list::<4>("ip").map(|byte| byte as u8))
        }),
        "The ATOM gets another address: every WebSocket breaks.",
        "`ip=` in the status log; WebSockets close."
    ),
    entry!(
        "wifi.rssi",
        UntilCleared,
        [whole("dbm", -120.0, 0.0, "dBm")],
        |a| Some(FaultKind::Wifi {
            client: None,
            direction: None,
            fault: WifiFault::Rssi(a.number("dbm") as i8)
        }),
        "Another signal strength.",
        "`rssi=` in the status log."
    ),
    entry!(
        "client.half_open",
        UntilCleared,
        [CLIENT],
        |a| client(a, ClientFault::HalfOpen),
        "The client is gone without a word: nothing arrives, nothing is read, nothing is closed.",
        "Control ends 2 s after its last message; a JOG or TRACK stops by its deadman."
    ),
    entry!(
        "client.slow_reader",
        UntilCleared,
        [CLIENT, or(whole("bytes_s", 1.0, 100_000_000.0, "bytes/s"), 500.0)],
        |a| client(a, ClientFault::SlowReader(a.number("bytes_s") as u32)),
        "The client reads no faster than this.",
        "It loses messages; the others notice nothing."
    ),
    entry!(
        "client.disconnect",
        Event,
        [CLIENT],
        |a| client(a, ClientFault::Disconnect),
        "The client's connection closes.",
        "Control and subscription end; its JOG or TRACK stops at once."
    ),
    entry!(
        "client.garbage",
        UntilCleared,
        [CLIENT, or(whole("per_s", 1.0, 1_000.0, "messages/s"), 50.0)],
        |a| client(a, ClientFault::Garbage(a.number("per_s") as u32)),
        "The client sends random messages: random first byte, random bytes, 0–64 bytes long.",
        "Refusals to that client."
    ),
    entry!(
        "client.flood",
        UntilCleared,
        [CLIENT, or(whole("per_s", 1.0, 20_000.0, "messages/s"), 2_000.0)],
        |a| client(a, ClientFault::Flood(a.number("per_s") as u32)),
        "The client sends PINGs at this rate.",
        "PONGs to that client; the others notice nothing."
    ),
    entry!(
        "cpu.slow_cycle",
        UntilCleared,
        [number("us", 0.0, 20_000.0, "µs")],
        |a| Some(FaultKind::Cpu(CpuFault::SlowCycle(a.number("us") as u32))),
        "Each control cycle takes this much longer.",
        "Late cycles and the longest period in DONE."
    ),
    entry!(
        "cpu.network_stall",
        Micros(100_000),
        [],
        |_| Some(FaultKind::Cpu(CpuFault::NetworkStall)),
        "The network side does not run. The control side does.",
        "No reply for that time; telemetry above 512 samples is dropped and counted."
    ),
    entry!(
        "cpu.control_stall",
        Micros(100_000),
        [],
        |_| Some(FaultKind::Cpu(CpuFault::ControlStall)),
        "The control side does not run. The network side does.",
        "Late cycles and the longest period in DONE; stale positions."
    ),
    entry!(
        "power.brown_out",
        UntilCleared,
        [or(number("volts", 0.0, 12.0, "V"), 5.0)],
        |a| Some(FaultKind::Power(PowerFault::BrownOut(a.number("volts")))),
        "The servos see this voltage.",
        "Voltage and, below the servo's limit, status bit 0 in STREAM within about a second."
    ),
    entry!(
        "power.cycle_atom",
        Micros(OFF_US),
        [],
        |_| Some(FaultKind::Power(PowerFault::CycleAtom)),
        "The ATOM restarts; it has no power while the fault lasts. The servos keep theirs and hold.",
        "Silence, then booting; plan, control and subscriptions are gone, WebSockets closed."
    ),
    entry!(
        "power.cycle_servos",
        Micros(OFF_US),
        [],
        |_| Some(FaultKind::Power(PowerFault::CycleServos)),
        "The servos restart; they have no power while the fault lasts.",
        "As `bus.disconnected`, then registers at their power-up values."
    ),
    entry!(
        "power.cycle_both",
        Micros(OFF_US),
        [],
        |_| Some(FaultKind::Power(PowerFault::CycleBoth)),
        "Both restart.",
        "As `power.cycle_atom`; the arm is limp until power-up holds it."
    ),
    entry!(
        "power.j6_turned",
        Micros(OFF_US),
        [number("angle_deg", -237.0, 139.0, "°")],
        |a| Some(FaultKind::Power(PowerFault::J6Turned(a.number("angle_deg")))),
        "Both restart, and meanwhile J6 is turned by hand to this angle.",
        "J6 at that angle; near +135° or −225° the turn is unknown: state error and `TURN UNKNOWN` in the status log."
    ),
    entry!(
        "ota.begin",
        Event,
        [],
        |_| Some(FaultKind::Ota(OtaEvent::Begin)),
        "A firmware update begins: from holding, ready or error.",
        "State OTA; requests that need the bus are refused with −1."
    ),
    entry!(
        "ota.end",
        Event,
        [],
        |_| Some(FaultKind::Ota(OtaEvent::End)),
        "The update ends well: the ATOM restarts.",
        "Booting."
    ),
    entry!(
        "ota.fail",
        Event,
        [],
        |_| Some(FaultKind::Ota(OtaEvent::Fail)),
        "The update fails.",
        "Bus on, hold: holding, ready or error."
    ),
    entry!(
        "memory.heap_limit",
        UntilCleared,
        [whole("bytes", 0.0, 1_000_000.0, "bytes")],
        |a| Some(FaultKind::HeapLimit(a.number("bytes") as usize)),
        "No more memory than this for plans.",
        "PLAN_BEGIN −3."
    ),
    entry!(
        "button.press",
        Event,
        [],
        |_| Some(FaultKind::Button),
        "The ATOM's button is pressed.",
        "Playing: nothing; another run: stops; otherwise a HOLD without ACK."
    ),
];
