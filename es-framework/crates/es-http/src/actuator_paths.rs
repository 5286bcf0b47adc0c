//! The paths of the health report, of the probes and of the information about the application.

pub(crate) const HEALTH: &str = "/actuator/health";
pub(crate) const LIVENESS: &str = "/actuator/health/liveness";
pub(crate) const READINESS: &str = "/actuator/health/readiness";
pub(crate) const INFO: &str = "/actuator/info";
