//! Test support that several packages include by its path.

pub(crate) mod python_environment;
pub(crate) mod requirement;
