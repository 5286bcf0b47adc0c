//! What stands before every route: it lets a request pass once it knows who calls.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::HeaderMap,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::MethodRouter,
};

use super::{
    Anonymous, Auth, Caller, RateLimit,
    denied::Denied,
    jwt::Issuer,
    rate::Client,
    streams::{is_stream, until},
    tokens::Tokens,
};
use crate::{
    bearer::{self, BearerError},
    file_watcher::FileWatcher,
    http::health,
    net::PeerAddress,
};

/// Paths that take no credential: whoever starts or balances services asks whether this one is up,
/// and is told no more than that.
const PUBLIC: [&str; 3] = [health::PATH, health::LIVENESS, health::READINESS];

/// Knows callers by what they send.
///
/// ```
/// use es_framework::http::auth::Auth;
///
/// /// Whether a request has to say who sends it.
/// fn is_guarded(auth: &Auth) -> bool {
///     matches!(auth, Auth::Guarded(_))
/// }
///
/// assert!(!is_guarded(&Auth::Open));
/// ```
#[derive(Debug, Clone)]
pub struct Guard {
    tokens: Option<FileWatcher<Tokens>>,
    issuer: Option<Arc<Issuer>>,
}

impl Guard {
    pub(super) const fn new(
        tokens: Option<FileWatcher<Tokens>>,
        issuer: Option<Arc<Issuer>>,
    ) -> Self {
        Self { tokens, issuer }
    }

    pub(super) fn tokens(&self) -> Option<FileWatcher<Tokens>> {
        self.tokens.clone()
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let credential = bearer::credential(headers)?;
        // The tokens of a file have no dots.
        if let Some(issuer) = &self.issuer
            && credential.contains(&b'.')
        {
            return issuer.caller(credential).await;
        }
        let tokens = self.tokens.as_ref().map(FileWatcher::current);
        let caller = tokens.and_then(|tokens| tokens.caller(credential));
        caller.ok_or(Denied::InvalidCredential)
    }
}

/// What every request passes.
#[derive(Debug, Clone)]
struct Gate {
    auth: Auth,
    rate: Option<RateLimit>,
}

/// The routes behind what `auth` says, for those who do not ask too often. Routes that are added
/// later are not.
pub(in crate::http) fn guarded<S>(
    router: Router<S>,
    auth: Auth,
    rate: Option<RateLimit>,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    match (&auth, &rate) {
        (Auth::Open, None) => router,
        _ => router.layer(middleware::from_fn_with_state(Gate { auth, rate }, check)),
    }
}

impl Auth {
    /// Who calls, where that is known.
    async fn caller(&self, headers: &HeaderMap) -> Result<Option<Caller>, Denied> {
        match self {
            Self::Open => Ok(None),
            Self::Guarded(guard) => guard.caller(headers).await.map(Some),
        }
    }

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

async fn check(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let known = gate.auth.caller(request.headers()).await;
    if let Some(rate) = &gate.rate {
        // A guess counts for the address that it comes from, and takes nothing from the caller.
        let caller = known.as_ref().ok().and_then(Option::as_ref);
        let peer = request.extensions().get::<PeerAddress>().copied();
        if let Err(too_many) = rate.count(Client::of(caller, peer)) {
            return too_many.into_response();
        }
    }
    match known {
        Ok(None) => next.run(request).await,
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller.clone());
            let end = gate.auth.end_of_trust(request.headers(), &caller);
            let mut response = next.run(request).await;
            if is_stream(&response) {
                response = until(response, end);
            }
            // For the log.
            response.extensions_mut().insert(caller);
            response
        }
        Err(Denied::NoCredential) if PUBLIC.contains(&request.uri().path()) => {
            request.extensions_mut().insert(Anonymous);
            next.run(request).await
        }
        Err(denied) => denied.into_response(),
    }
}

impl From<BearerError> for Denied {
    fn from(none: BearerError) -> Self {
        match none {
            BearerError::Missing => Self::NoCredential,
            BearerError::Invalid => Self::InvalidCredential,
        }
    }
}
