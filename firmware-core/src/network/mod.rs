//! Placeholder heading of the `network` room.
