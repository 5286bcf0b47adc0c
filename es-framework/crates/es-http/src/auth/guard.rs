//! The middleware that authenticates the caller of every request.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::HeaderMap,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use es_event::Caller;
use es_net::{
    ClientIdentity, PeerAddress,
    bearer::{self, BearerError},
    reloaded_value::ReloadedValue,
};

use super::{
    Auth, ClientRateLimiter, CountedClient, Issuer, PublicRoutes, RequestWithoutCredential,
    VerifiedCaller,
    denied::AccessDenied,
    streams::{end_when, is_stream},
    tokens::FileTokens,
};
use crate::{
    Problem,
    actuator_paths::{HEALTH, LIVENESS, READINESS},
};

/// Paths that need no credential, for orchestrators and load balancers. Without a credential, they return
/// only the status.
const PUBLIC: [&str; 3] = [HEALTH, LIVENESS, READINESS];

/// Authenticates callers by their bearer tokens.
#[derive(Debug, Clone)]
pub(super) struct Authenticator {
    tokens: Option<ReloadedValue<FileTokens>>,
    issuer: Option<Arc<Issuer>>,
}

impl Authenticator {
    pub(super) const fn new(
        tokens: Option<ReloadedValue<FileTokens>>,
        issuer: Option<Arc<Issuer>>,
    ) -> Self {
        Self { tokens, issuer }
    }

    pub(super) fn tokens(&self) -> Option<ReloadedValue<FileTokens>> {
        self.tokens.clone()
    }

    /// Returns the roles of all tokens, or `None` if an issuer can give others.
    fn known_roles(&self) -> Option<BTreeSet<String>> {
        let tokens = self.tokens.as_ref().filter(|_| self.issuer.is_none())?;
        Some(tokens.current().known_roles())
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<VerifiedCaller, AccessDenied> {
        let credential = bearer::read_credential(headers)?;
        let tokens = self.tokens.as_ref().map(ReloadedValue::current);
        // The tokens of a file have no dots.
        #[cfg(feature = "oidc")]
        if let Some(issuer) = &self.issuer
            && credential.contains(&b'.')
        {
            let caller = issuer.authenticate(credential).await?;
            // Idempotency keys, rates and the metadata of events tell callers apart by their names.
            if tokens.is_some_and(|tokens| tokens.contains_name(caller.name())) {
                let name = caller.name();
                tracing::warn!(
                    name,
                    "a JWT was refused: its subject is the name of a token in the file"
                );
                return Err(AccessDenied::InvalidCredential);
            }
            return Ok(caller);
        }
        let caller = tokens.and_then(|tokens| tokens.find_caller(credential));
        caller.ok_or(AccessDenied::InvalidCredential)
    }
}

impl Auth {
    /// Returns all roles that a caller can have, if they are known.
    #[must_use]
    pub fn find_known_roles(&self) -> Option<BTreeSet<String>> {
        self.0.as_ref()?.known_roles()
    }
}

/// The state of the middleware.
#[derive(Debug, Clone)]
struct AuthenticationState {
    auth: Auth,
    rate: Option<ClientRateLimiter>,
    public: Option<PublicRoutes>,
}

/// Adds authentication and the rate limit to a router. Routes that are added later have
/// neither. Only the public routes need no credential.
pub(crate) fn with_authentication<S>(
    router: Router<S>,
    auth: Auth,
    rate: Option<ClientRateLimiter>,
    public: Option<PublicRoutes>,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    if auth.is_open() && rate.is_none() {
        return router;
    }
    let state = AuthenticationState { auth, rate, public };
    router.layer(middleware::from_fn_with_state(state, guard_request))
}

impl Auth {
    /// Returns the caller, or `None` where the service is open to everyone.
    pub(super) async fn caller(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<VerifiedCaller>, AccessDenied> {
        match &self.0 {
            None => Ok(None),
            Some(authenticator) => authenticator.caller(headers).await.map(Some),
        }
    }

    /// Returns the caller as handlers take it, from the caller that the middleware found. Where the service is open to
    /// everyone, only requests in process have callers.
    pub(crate) fn caller_or_default(&self, known: Option<&Caller>) -> Caller {
        match known {
            Some(caller) => caller.clone(),
            None if self.is_open() => Caller::Anyone,
            None => Caller::Anonymous,
        }
    }
}

/// Refuses a caller with none of the roles of a route, and a caller without a credential unless the route is public.
pub(crate) fn check_access(
    caller: &Caller,
    roles: &'static [&'static str],
    is_public: bool,
) -> Result<(), Problem> {
    if *caller == Caller::Anonymous && !is_public {
        return Err(AccessDenied::NoCredential.into());
    }
    if roles.is_empty() || roles.iter().any(|role| caller.has_role(role)) {
        Ok(())
    } else {
        Err(AccessDenied::NoRole(roles).into())
    }
}

impl AuthenticationState {
    /// Admits a request without a credential to a public route, as often as its address may call one.
    fn admit_anonymous(&self, request: &Request) -> Result<(), Box<Response>> {
        match &self.public {
            Some(public) if public.contains(request) => public.admit_request(request),
            _ => Err(Box::new(AccessDenied::NoCredential.into_response())),
        }
    }
}

/// Middleware that authenticates a request and enforces the rate limit.
async fn guard_request(
    State(gate): State<AuthenticationState>,
    mut request: Request,
    next: Next,
) -> Response {
    let known = match request.extensions().get::<VerifiedCaller>() {
        // Only a request in process names its caller. Those of a connection have a credential.
        Some(caller) => Ok(Some(caller.clone())),
        None => gate.auth.caller(request.headers()).await,
    };
    if let Some(rate) = &gate.rate {
        // A wrong credential counts against the address of the client, not against a caller.
        let caller = known.as_ref().ok().and_then(Option::as_ref);
        let peer = request.extensions().get::<PeerAddress>().copied();
        let client = ClientIdentity::identify(caller.map(VerifiedCaller::name), peer);
        if let Err(too_many) = rate.admit_request(client.clone()) {
            return *too_many;
        }
        let rate = rate.clone();
        request
            .extensions_mut()
            .insert(CountedClient { rate, client });
    }
    match known {
        Ok(None) => next.run(request).await,
        Ok(Some(caller)) => {
            // Custom routes take the caller as handlers do.
            request.extensions_mut().insert(caller.to_caller());
            request.extensions_mut().insert(caller.clone());
            let end = gate
                .auth
                .wait_until_credential_invalid(request.headers(), &caller);
            let mut response = next.run(request).await;
            if is_stream(&response) {
                response = end_when(response, end);
            }
            // The log needs the caller.
            response.extensions_mut().insert(caller);
            response
        }
        Err(AccessDenied::NoCredential) if PUBLIC.contains(&request.uri().path()) => {
            request.extensions_mut().insert(RequestWithoutCredential);
            next.run(request).await
        }
        Err(AccessDenied::NoCredential) => match gate.admit_anonymous(&request) {
            Ok(()) => {
                request.extensions_mut().insert(Caller::Anonymous);
                next.run(request).await
            }
            Err(refused) => *refused,
        },
        Err(denied) => denied.into_response(),
    }
}

impl From<BearerError> for AccessDenied {
    fn from(none: BearerError) -> Self {
        match none {
            BearerError::Missing => Self::NoCredential,
            BearerError::Invalid => Self::InvalidCredential,
        }
    }
}
