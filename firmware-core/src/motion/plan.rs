//! Plans: uploaded samples and their interpolation.

/// An uploaded plan.
#[derive(Debug, Default)]
pub struct Plan {}
