//! The route of a query: it answers once, or with a live query.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, Uri},
    routing::{MethodRouter, get},
};

use super::{
    HttpContext,
    limits::ConcurrencyLimit,
    live, path,
    query::{PathExtraction, QueryExtraction, QueryRequest},
    query_response::ok_or_not_modified,
};
use crate::query::QueryRoute;

/// Returns the path of a query's route, and its handler.
pub(super) fn route(route: QueryRoute) -> (String, MethodRouter<Arc<HttpContext>>) {
    let mounted = path::to_axum_path(&route.path);
    let route = Arc::new(route);
    let handler = async move |State(context): State<Arc<HttpContext>>,
                              Extension(limit): Extension<ConcurrencyLimit>,
                              uri: Uri,
                              in_path: PathExtraction,
                              in_query: QueryExtraction,
                              headers: HeaderMap| {
        let _permit = limit.try_acquire()?;
        let parameters = (in_path, in_query);
        let request = QueryRequest::new(Arc::clone(&route), context, uri, parameters, headers)?;
        if live::is_requested(&request.headers) {
            live::stream_outputs(request).await
        } else {
            Ok(ok_or_not_modified(
                &request.run_to_json().await?,
                &request.headers,
            ))
        }
    };
    (mounted, get(handler))
}
