//! Placeholder heading of the `control` room.
