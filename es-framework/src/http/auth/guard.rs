//! What stands before every route: it lets a request pass once it knows who calls.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::MethodRouter,
};

use super::{Anonymous, Auth, Caller, denied::Denied, tokens::Tokens};
use crate::watched::Watched;

/// Paths that take no credential: whoever starts or balances services asks whether this one is up,
/// and is told no more than that.
const PUBLIC: [&str; 3] = [
    "/actuator/health",
    "/actuator/health/liveness",
    "/actuator/health/readiness",
];

/// A longer credential is none.
const MAX_CREDENTIAL: usize = 8 * 1024;

/// Knows callers by what they send.
#[derive(Debug, Clone)]
pub struct Guard {
    tokens: Watched<Tokens>,
}

impl Guard {
    pub(super) const fn new(tokens: Watched<Tokens>) -> Self {
        Self { tokens }
    }

    fn caller(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let credential = bearer(headers)?;
        let caller = self.tokens.get().caller(credential);
        caller.ok_or(Denied::InvalidCredential)
    }
}

/// The routes behind what `auth` says. Routes that are added later are not.
pub(in crate::http) fn guarded<S>(router: Router<S>, auth: Auth) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    match auth {
        Auth::Open => router,
        Auth::Guarded(guard) => router.layer(middleware::from_fn_with_state(guard, check)),
    }
}

impl Auth {
    /// The route for those who have the role, and for everyone where callers are not known.
    pub(in crate::http) fn require<S>(
        &self,
        role: Option<&'static str>,
        route: MethodRouter<S>,
    ) -> MethodRouter<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        match (self, role) {
            (Self::Guarded(_), Some(role)) => {
                route.route_layer(middleware::from_fn_with_state(role, check_role))
            }
            (Self::Guarded(_), None) | (Self::Open, _) => route,
        }
    }
}

async fn check_role(State(role): State<&'static str>, request: Request, next: Next) -> Response {
    match request.extensions().get::<Caller>() {
        Some(caller) if caller.has_role(role) => next.run(request).await,
        Some(_) => Denied::NoRole(role).into_response(),
        None => Denied::NoCredential.into_response(),
    }
}

async fn check(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    match guard.caller(request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
        }
        Err(Denied::NoCredential) if PUBLIC.contains(&request.uri().path()) => {
            request.extensions_mut().insert(Anonymous);
        }
        Err(denied) => return denied.into_response(),
    }
    next.run(request).await
}

/// The credential after the scheme, whose letters may be of any case (RFC 9110, section 11.1).
fn bearer(headers: &HeaderMap) -> Result<&[u8], Denied> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(Denied::NoCredential)?;
    // Two of them could mean one thing to a proxy and another one here.
    if values.next().is_some() {
        return Err(Denied::InvalidCredential);
    }
    let (scheme, credential) = value
        .as_bytes()
        .split_at_checked(b"bearer ".len())
        .ok_or(Denied::InvalidCredential)?;
    let credential = credential.trim_ascii();
    let fits =
        scheme.eq_ignore_ascii_case(b"bearer ") && (1..=MAX_CREDENTIAL).contains(&credential.len());
    fits.then_some(credential).ok_or(Denied::InvalidCredential)
}
