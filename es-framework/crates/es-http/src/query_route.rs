//! The route of a query: it answers once, or with a live query.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{RawPathParams, State},
    http::{HeaderMap, Uri},
    routing::{MethodRouter, get},
};
use es_event::Caller;
use es_net::{ClientIdentity, PeerAddress};
use es_read::query::QueryRoute;

use super::{
    HttpContext,
    auth::check_access,
    caller_shares::CallerShares,
    limits::ConcurrencyLimit,
    live, path,
    query::{QueryExtraction, QueryRequest},
};

/// Returns the path of a query's route, and its handler.
pub(super) fn route(route: QueryRoute) -> (String, MethodRouter<Arc<HttpContext>>) {
    let mounted = path::to_axum_path(&route.path);
    let route = Arc::new(route);
    let handler = async move |State(context): State<Arc<HttpContext>>,
                              Extension(limit): Extension<ConcurrencyLimit>,
                              Extension(shares): Extension<CallerShares>,
                              uri: Uri,
                              in_path: RawPathParams,
                              in_query: QueryExtraction,
                              caller: Option<Extension<Caller>>,
                              peer: Option<Extension<PeerAddress>>,
                              headers: HeaderMap| {
        let caller = context.auth.caller_or_default(caller.as_deref());
        check_access(&caller, route.roles(), route.is_public())?;
        let identity = ClientIdentity::identify(caller.name(), peer.map(|peer| peer.0));
        let caller = shares.enter(identity, caller);
        let _permit = limit.try_acquire()?;
        let _share = caller.try_acquire_query()?;
        let parameters = (in_path, in_query);
        let route = Arc::clone(&route);
        let request = QueryRequest::new(route, context, uri, parameters, headers, caller)?;
        if live::is_requested(&request.headers) {
            live::stream_outputs(request).await
        } else {
            Ok(request.respond().await)
        }
    };
    (mounted, get(handler))
}
