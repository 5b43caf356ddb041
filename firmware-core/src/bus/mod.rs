//! Placeholder heading of the `bus` room.
