//! The version of the API that the server offers.

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

/// The version of the API that the server offers. It is `None` until the server is asked, and again
/// after the server rejects a path of version 2.
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

    /// Forgets the version when the server rejects a path of version 2, as after a downgrade.
    pub(super) fn forget_if_rejected(&self, path: &str, status: StatusCode) {
        if is_not_offered(status) && path.contains(V2) {
            self.set(None);
        }
    }
}

/// Returns true for a status by which a server rejects the path of a version that it does not offer.
pub(super) const fn is_not_offered(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    )
}
