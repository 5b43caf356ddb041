//! Recordings: the lab's CSV of a run, and what reads it back.
//!
//! | File | Is |
//! | --- | --- |
//! | [`bounded`] | a writer that stops at a size |
//! | [`collector`] | the telemetry of a run: any order, doubles, gaps |
//! | [`row`] | one sample of a run in units, from and to raw servo values |
//! | [`keeper`] | what keeps files of a running ATOM |
//! | [`run_files`] | a CSV of every run |
//! | [`trace`] | every input and output of an ATOM, and their replay |
//! | [`mcap`] | MCAP files for viewers, live or of a recording |
//! | [`time_table`] | numbers over time as CSV, read as a stream |
//! | [`csv_file`] | the CSV form of a recording |

pub mod bounded;
pub mod collector;
pub mod csv_file;
pub mod keeper;
pub mod mcap;
pub mod row;
pub mod run_files;
pub mod time_table;
pub mod trace;

pub use collector::Collector;
pub use csv_file::{Reader, Writer};
pub use keeper::{Keeper, KeeperId, Keepers};
pub use row::Row;
pub use run_files::RunFiles;
pub use time_table::{ReadError, TimeTable};
