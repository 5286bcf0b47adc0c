//! The authenticated caller of a request.

use std::{sync::Arc, time::Instant};

/// The authenticated caller: the name of a token or the subject of a JWT, with its roles.
///
/// ```
/// use axum::{Extension, http::StatusCode};
/// use es_framework::http::auth::Caller;
///
/// /// A custom route for callers with the role `staff`.
/// async fn stocktaking(Extension(caller): Extension<Caller>) -> Result<String, StatusCode> {
///     let greeting = caller.has_role("staff").then(|| format!("Hello, {}", caller.name()));
///     greeting.ok_or(StatusCode::FORBIDDEN)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    name: Arc<str>,
    roles: Arc<[Box<str>]>,
    until: Option<Instant>,
}

impl Caller {
    pub(super) fn new(name: &str, roles: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        Self {
            name: name.into(),
            roles: roles.into_iter().map(Into::into).collect(),
            until: None,
        }
    }

    /// Returns the caller with the time at which the credential expires.
    #[cfg(feature = "oidc")]
    pub(super) fn with_expiry(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// Returns the time at which the credential expires, if it does.
    pub(super) const fn expiry(&self) -> Option<Instant> {
        self.until
    }

    /// Returns the name of the token, or the subject of the JWT.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the caller has this role.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| **own == *role)
    }
}

/// Marks a request without a credential to a path that everyone may read.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct AnonymousRequest;
