//! Scenarios: files that say what happens to an arm and what must come of it, run in virtual time.
//!
//! | File | Is |
//! | --- | --- |
//! | [`format`], [`condition`], [`fault_entry`] | the file format, as types |
//! | [`load`] | files → scenarios, with parameters put in |
//! | `check`, `check_condition` | what the types cannot say: names that exist, times in order |
//! | [`error`] | what is wrong with a file: file, line, column, and what would be right |
//! | [`action`], [`upload`] | what clients do → bytes |
//! | [`plan`] | a scenario that was checked and is ready to run |

pub mod action;
mod check;
mod check_condition;
pub mod condition;
pub mod error;
pub mod fault_entry;
pub mod format;
pub mod load;
pub mod plan;
pub mod upload;
