//! Recordings: the lab's CSV of a run, and what reads it back.
//!
//! | File | Is |
//! | --- | --- |
//! | [`row`] | one sample of a run in units, from and to raw servo values |
//! | [`trace`] | every input and output of an ATOM, and their replay |
//! | [`csv_file`] | the CSV form, written and read as a stream |

pub mod csv_file;
pub mod row;
pub mod trace;

pub use csv_file::{ReadError, Reader, Writer};
pub use row::Row;
