//! The version of the API that the server offered last.

use std::sync::atomic::{AtomicU8, Ordering};

use reqwest::StatusCode;

/// The start of the paths of version 2.
pub(super) const V2: &str = "api/v2/";

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiVersion {
    V1,
    V2,
}

/// The version that the server offered last, if it was asked.
#[derive(Default)]
pub(super) struct DetectedVersion(AtomicU8);

impl DetectedVersion {
    pub(super) fn get(&self) -> Option<ApiVersion> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(ApiVersion::V1),
            2 => Some(ApiVersion::V2),
            _ => None,
        }
    }

    pub(super) fn set(&self, version: Option<ApiVersion>) {
        let number = match version {
            None => 0,
            Some(ApiVersion::V1) => 1,
            Some(ApiVersion::V2) => 2,
        };
        self.0.store(number, Ordering::Relaxed);
    }

    /// Forgets version 2 when one of its paths is unknown, as after a downgrade of the server.
    pub(super) fn check_status(&self, path: &str, status: StatusCode) {
        if is_not_offered(status) && path.contains(V2) {
            self.set(None);
        }
    }
}

/// Tells if a status says that the server does not offer a version.
pub(super) const fn is_not_offered(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    )
}
