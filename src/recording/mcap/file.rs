//! One MCAP file: its topics, and chunks small enough that a crash costs at most a second.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use ::mcap::records::MessageHeader;
use ::mcap::write::NoSeek;
use ::mcap::{McapError, WriteOptions};

use super::messages::{FrameTransforms, Imu, JointStates, Joints, Log, Message, PoseInFrame, State, schema};
use super::moment::Moment;

/// A chunk ends at this size (bytes) at the latest.
const CHUNK_BYTES: u64 = 64 * 1024;
/// A chunk ends, and all reaches the file, at least this often (µs of the file's time).
const FLUSH_US: u64 = 1_000_000;

/// A topic of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Joints,
    Measured,
    Goals,
    Links,
    Tcp,
    Imu,
    State,
    Log,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::Joints => "/joints",
            Self::Measured => "/joint_states",
            Self::Goals => "/joint_goals",
            Self::Links => "/tf",
            Self::Tcp => "/tcp",
            Self::Imu => "/imu",
            Self::State => "/state",
            Self::Log => "/log",
        }
    }
}

/// A topic's number in the file, and how many messages it has.
#[derive(Debug, Default)]
struct Channel {
    id: u16,
    count: u32,
}

/// Writes one file. The same messages give the same bytes.
pub struct File<W: Write> {
    writer: ::mcap::Writer<NoSeek<W>>,
    channels: BTreeMap<Topic, Channel>,
    flush_due_us: u64,
    json: Vec<u8>,
}

impl<W: Write> fmt::Debug for File<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl<W: Write> File<W> {
    /// Begins a file with all its topics.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W) -> io::Result<Self> {
        // Without seeking, a chunk is written when it is whole: nothing before it changes any more.
        let writer = WriteOptions::new()
            .compression(None)
            .chunk_size(Some(CHUNK_BYTES))
            .library(concat!("atom-sim ", env!("CARGO_PKG_VERSION")))
            .disable_seeking(true)
            .create(NoSeek::new(out))
            .map_err(of_io)?;
        let mut file = Self { writer, channels: BTreeMap::new(), flush_due_us: 0, json: Vec::new() };
        file.add::<Joints>(Topic::Joints)?;
        file.add::<JointStates>(Topic::Measured)?;
        file.add::<JointStates>(Topic::Goals)?;
        file.add::<FrameTransforms>(Topic::Links)?;
        file.add::<PoseInFrame>(Topic::Tcp)?;
        file.add::<Imu>(Topic::Imu)?;
        file.add::<State>(Topic::State)?;
        file.add::<Log>(Topic::Log)?;
        file.writer.flush().map_err(of_io)?;
        Ok(file)
    }

    fn add<M: Message>(&mut self, topic: Topic) -> io::Result<()> {
        let schema_id =
            self.writer.add_schema(M::SCHEMA_NAME, "jsonschema", &schema::<M>()?).map_err(of_io)?;
        let id = self.writer.add_channel(schema_id, topic.name(), "json", &BTreeMap::new()).map_err(of_io)?;
        self.channels.insert(topic, Channel { id, count: 0 });
        Ok(())
    }

    /// Writes the arm at one moment.
    ///
    /// # Errors
    /// The writer's.
    pub fn moment(&mut self, moment: &Moment) -> io::Result<()> {
        self.put(Topic::Joints, moment.t_us, &moment.joints())?;
        self.put(Topic::Measured, moment.t_us, &moment.measured())?;
        self.put(Topic::Goals, moment.t_us, &moment.goals())?;
        self.put(Topic::Links, moment.t_us, &moment.links())?;
        self.put(Topic::Tcp, moment.t_us, &moment.tcp())?;
        match moment.imu() {
            Some(imu) => self.put(Topic::Imu, moment.t_us, &imu),
            None => Ok(()),
        }
    }

    /// Writes the controller's state at `t_us` (µs of the file's time).
    ///
    /// # Errors
    /// The writer's.
    pub fn state(&mut self, t_us: u64, state: &State) -> io::Result<()> {
        self.put(Topic::State, t_us, state)
    }

    /// Writes an event at `t_us` (µs of the file's time).
    ///
    /// # Errors
    /// The writer's.
    pub fn log(&mut self, t_us: u64, log: &Log) -> io::Result<()> {
        self.put(Topic::Log, t_us, log)
    }

    fn put<M: Message>(&mut self, topic: Topic, t_us: u64, message: &M) -> io::Result<()> {
        if t_us >= self.flush_due_us {
            self.writer.flush().map_err(of_io)?;
            self.flush_due_us = t_us + FLUSH_US;
        }
        self.json.clear();
        serde_json::to_writer(&mut self.json, message)?;
        let channel = self.channels.entry(topic).or_default();
        let time_ns = t_us * 1_000;
        let header = MessageHeader {
            channel_id: channel.id,
            sequence: channel.count,
            log_time: time_ns,
            publish_time: time_ns,
        };
        channel.count = channel.count.wrapping_add(1);
        self.writer.write_to_known_channel(&header, &self.json).map_err(of_io)
    }

    /// Ends the file with its index and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        self.end()?;
        Ok(self.writer.into_inner().into_inner())
    }

    /// Ends the file with its index.
    ///
    /// # Errors
    /// The writer's.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.writer.finish().map(drop).map_err(of_io)
    }
}

/// A file's error as what it is; one of the format (too many topics) cannot come from here.
fn of_io(error: McapError) -> io::Error {
    match error {
        McapError::Io(error) => error,
        other => io::Error::other(other),
    }
}
