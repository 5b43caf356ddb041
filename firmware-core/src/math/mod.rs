//! Elementary functions in f32, one implementation for every target.
