//! Placeholder heading of the `protocol` room.
