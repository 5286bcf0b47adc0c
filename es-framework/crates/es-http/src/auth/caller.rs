//! The caller of a request whose credential is valid.

use std::time::Instant;

use axum::extract::Request;

use es_event::{AuthenticatedCaller, Caller};

/// The caller of a request, with the time at which its credential expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerifiedCaller {
    caller: AuthenticatedCaller,
    until: Option<Instant>,
}

impl VerifiedCaller {
    pub(super) fn new(
        name: &str,
        roles: impl IntoIterator<Item = impl Into<Box<str>>>,
        owner_id: Option<&str>,
    ) -> Self {
        let caller = AuthenticatedCaller::new(name, roles);
        Self {
            caller: match owner_id {
                Some(id) => caller.with_owner_id(id),
                None => caller,
            },
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
    pub(crate) fn name(&self) -> &str {
        self.caller.name()
    }

    #[cfg(test)]
    pub(super) fn has_role(&self, role: &str) -> bool {
        self.caller.has_role(role)
    }

    #[cfg(test)]
    pub(super) fn owner_id(&self) -> Option<&str> {
        self.caller.owner_id()
    }

    /// Returns the caller as handlers take it.
    pub(crate) fn to_caller(&self) -> Caller {
        Caller::Authenticated(self.caller.clone())
    }
}

/// Lets a request in process come from a caller, without a credential. An anonymous one sends only what is public.
pub fn assume_caller(request: &mut Request, caller: &Caller) {
    if let Caller::Authenticated(known) = caller {
        let (caller, until) = (known.clone(), None);
        request
            .extensions_mut()
            .insert(VerifiedCaller { caller, until });
    }
    if matches!(caller, Caller::Authenticated(_) | Caller::Anonymous) {
        request.extensions_mut().insert(caller.clone());
    }
}

/// Marks a request without a credential to a path that everyone may read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestWithoutCredential;
