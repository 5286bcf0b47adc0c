//! Who calls, once it is proved.

use std::{sync::Arc, time::Instant};

/// Who calls: the name of a token, or the subject of a JWT, and what they may do.
///
/// ```
/// use axum::{Extension, http::StatusCode};
/// use es_framework::http::auth::Caller;
///
/// /// A route of the application's own, for those who work there.
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

    /// The same, known until then.
    pub(super) fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// When the proof expires, if it does by itself.
    pub(super) const fn expiry(&self) -> Option<Instant> {
        self.until
    }

    /// The name of the token, or the subject of the JWT.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the caller has this role.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| **own == *role)
    }
}

/// Marks a request that came without a credential to a path that is open to everyone.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Anonymous;
