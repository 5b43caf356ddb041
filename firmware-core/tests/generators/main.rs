//! The generators by value and by property, on inputs of any kind.

mod joints;
mod plans;
mod signals;
