//! A whole ATOM in virtual time: clients send, the arm moves, every reply is checked by value.

mod motion;
mod requests;
mod support;
