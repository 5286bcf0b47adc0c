//! Test support that several packages include by its path.

pub(crate) mod cargo;
pub(crate) mod eventually;
pub(crate) mod package_fetch;
#[allow(dead_code, reason = "not every program uses all of it")]
pub(crate) mod postgres_server;
#[cfg(target_os = "linux")]
pub(crate) mod processor_time;
pub(crate) mod python_environment;
pub(crate) mod requirement;
