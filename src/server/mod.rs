//! The server: sockets and the pacer around an `Atom`.
