//! Scenarios: files that say what happens to an arm and what must come of it, run in virtual time.
//!
//! | File | Is |
//! | --- | --- |
//! | [`mod@format`], [`condition`], [`fault_entry`] | the file format, as types |
//! | [`load`] | files → scenarios, with parameters put in |
//! | `check`, `check_condition` | what the types cannot say: names that exist, times in order |
//! | [`error`] | what is wrong with a file: file, line, column, and what would be right |
//! | [`action`], [`upload`] | what clients do → bytes |
//! | [`plan`] | a scenario that was checked and is ready to run |
//! | [`runner`] | one scenario on one ATOM |
//! | [`world`] | where it runs: an ATOM of its own, or one that is served |
//! | [`cast`] | the clients at work: which step is due and what it sends |
//! | [`book`] | what the runner has seen |
//! | [`judge`] | whether a condition holds, and what is seen instead |
//! | [`expect`] | expectations in their windows |
//! | `recovery` | the check after the faults |
//! | `tail`, `words` | the last seconds before a failure, in words |
//! | [`outcome`] | what came of a run |
//! | [`batch`] | many scenarios: selection, threads, repetition, determinism |
//! | [`report`] | terminal, JUnit, JSON |
//! | [`record`] | files of runs that failed |
//! | [`chaos`] | random stories against what must always hold |
//! | [`schema`] | the JSON Schema of the format |

pub mod action;
pub mod batch;
pub mod book;
pub mod cast;
pub mod chaos;
mod check;
mod check_condition;
pub mod condition;
pub mod error;
pub mod expect;
pub mod fault_entry;
pub mod format;
pub mod judge;
pub mod load;
pub mod outcome;
pub mod plan;
pub mod record;
mod recovery;
pub mod report;
pub mod runner;
pub mod schema;
pub mod stopwatch;
mod tail;
pub mod upload;
pub mod words;
pub mod world;
