//! What a platform gives the core: a clock, a byte port to the servo bus, the IMU's latest sample and a way
//! out for messages. The simulator and the ESP32 firmware implement these traits, nothing else.

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// One UDP source (address and port).
    Udp,
    /// One WebSocket connection.
    WebSocket,
}

/// One client: one UDP source or one WebSocket connection. The platform gives each a number of its own and
/// never uses a number again for another client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId {
    /// How it is connected.
    pub transport: Transport,
    /// The platform's number for it.
    pub number: u32,
}

/// Raw acceleration of 1 g, at a range of ±8 g.
pub const ACC_PER_G: f64 = 4096.0;
/// Raw angular rate of 1 °/s, at a range of ±2,000 °/s.
pub const GYRO_PER_DPS: f64 = 16.4;

/// One IMU sample in raw units: [`ACC_PER_G`], [`GYRO_PER_DPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImuSample {
    /// Acceleration x, y, z (raw).
    pub acc: [i16; 3],
    /// Angular rate x, y, z (raw).
    pub gyro: [i16; 3],
}

/// A piece of computation whose time the platform may want to know (the simulator models it; on a chip it
/// simply passes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One control cycle's own computation.
    Cycle,
    /// One step of the end-effector JOG.
    TwistStep,
}

/// What the control side needs: time, the servo bus and the IMU.
pub trait ControlPort {
    /// Microseconds since power-up. Moves on while bytes are sent and received.
    fn now_us(&mut self) -> u64;

    /// Sends `bytes` on the half-duplex servo bus and returns when the last one is out.
    fn send(&mut self, bytes: &[u8]);

    /// Fills `buffer` with bytes from the bus. Returns the number received: `buffer.len()`, or fewer when no
    /// byte came for `timeout_us`.
    fn receive(&mut self, buffer: &mut [u8], timeout_us: u32) -> usize;

    /// Drops received bytes that nobody read.
    fn discard_input(&mut self);

    /// The IMU sampler's latest sample, `None` while the IMU does not answer.
    fn imu(&mut self) -> Option<ImuSample>;

    /// The core has done a piece of computation.
    fn computed(&mut self, _work: Work) {}
}

/// Facts for the status log that only the platform knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// IPv4 address of the ATOM.
    pub ip: [u8; 4],
    /// WiFi signal strength (dBm).
    pub rssi_dbm: i8,
    /// Free heap (bytes).
    pub heap_free: u32,
    /// WiFi associations lost since power-up.
    pub wifi_drops: u32,
}

/// What the network side needs: a way out, and facts for the status log.
pub trait NetworkPort {
    /// Sends one message to one client. Never blocks; a client that is gone or does not read loses it.
    fn send(&mut self, to: ClientId, message: &[u8]);

    /// Sends a status log line to every WebSocket as a text frame and to the UDP broadcast.
    fn broadcast(&mut self, line: &str);

    /// The IMU sampler's latest sample, `None` while the IMU does not answer.
    fn imu(&mut self) -> Option<ImuSample>;

    /// Facts for the status log.
    fn health(&mut self) -> Health;
}
