//! Test support that several packages include by its path.

#![allow(dead_code, reason = "no test program uses all of it")]

pub(crate) mod cargo;
pub(crate) mod eventually;
pub(crate) mod package_fetch;
pub(crate) mod postgres_server;
#[cfg(target_os = "linux")]
pub(crate) mod processor_time;
pub(crate) mod python_environment;
pub(crate) mod requirement;
