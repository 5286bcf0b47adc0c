//! The routes that everybody may call without a credential, and their rate limit for each address.

use std::{collections::HashSet, num::NonZeroU32, sync::Arc};

use axum::{
    extract::{MatchedPath, Request},
    http::Method,
    response::Response,
};
use es_net::{ClientIdentity, PeerAddress};

use super::ClientRateLimiter;

/// The routes of public commands and queries.
#[derive(Debug, Clone)]
pub(crate) struct PublicRoutes {
    /// The methods and paths in the router.
    routes: Arc<HashSet<(Method, String)>>,
    rate: ClientRateLimiter,
}

impl PublicRoutes {
    pub(crate) fn new(
        routes: impl IntoIterator<Item = (Method, String)>,
        per_second: NonZeroU32,
    ) -> Self {
        Self {
            routes: Arc::new(routes.into_iter().collect()),
            rate: ClientRateLimiter::per_second(per_second),
        }
    }

    /// Returns whether the router found a public route for the request.
    pub(super) fn contains(&self, request: &Request) -> bool {
        let Some(path) = request.extensions().get::<MatchedPath>() else {
            return false;
        };
        // A route for `GET` also answers `HEAD`.
        let method = match *request.method() {
            Method::HEAD => Method::GET,
            ref method => method.clone(),
        };
        self.routes.contains(&(method, path.as_str().to_owned()))
    }

    /// Counts a request without a credential against the address that it comes from.
    pub(super) fn admit_request(&self, request: &Request) -> Result<(), Box<Response>> {
        let peer = request.extensions().get::<PeerAddress>().copied();
        self.rate
            .admit_request(ClientIdentity::identify(None, peer))
    }
}
