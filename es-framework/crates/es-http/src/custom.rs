//! Routes and layers that an application adds to the declared ones.

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request},
    http::StatusCode,
    middleware,
    response::Response,
};
use es_event::{Error, Result};
use tower::ServiceExt as _;
use uuid::Uuid;

use super::path;

/// Routes and layers that an application adds to the declared ones.
#[doc(hidden)]
pub struct CustomRoutes<S> {
    router: Router,
    layers: Vec<ApplyLayer<S>>,
}

type ApplyLayer<S> = Box<dyn FnOnce(Router<S>) -> Router<S> + Send + Sync>;

impl<S> Default for CustomRoutes<S> {
    fn default() -> Self {
        Self {
            router: Router::new(),
            layers: Vec::new(),
        }
    }
}

impl<S: Clone + Send + Sync + 'static> CustomRoutes<S> {
    /// Adds the routes of a router.
    pub fn merge(&mut self, router: Router) {
        let own = std::mem::take(&mut self.router);
        self.router = own.merge(router.reset_fallback());
    }

    /// Adds a layer around all routes.
    pub fn add_layer(
        &mut self,
        layer: impl FnOnce(Router<S>) -> Router<S> + Send + Sync + 'static,
    ) {
        self.layers.push(Box::new(layer));
    }

    /// Returns the routes, and a function that applies the layers.
    pub(super) fn into_parts(self) -> (Router<S>, impl FnOnce(Router<S>) -> Router<S>) {
        let layers = self.layers;
        let apply = |router| {
            layers
                .into_iter()
                .fold(router, |router, apply| apply(router))
        };
        (self.router.with_state(()), apply)
    }

    /// Checks that no custom route has the path of a declared one, since axum would panic.
    pub(super) async fn check_path_is_free(&self, declared: &str, owner: &str) -> Result<()> {
        match self.find_route_path(declared).await {
            Some(custom) if collides(declared, &custom) => Err(Error::new(format!(
                "the custom route {custom} collides with {declared}, which {owner}: choose another path for the custom route"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the path of the custom route that answers requests to a declared path. axum does not
    /// list the routes of a router, so a request is sent to it, and a middleware in front of each
    /// route answers with the route's path. No handler runs.
    pub(super) async fn find_route_path(&self, declared: &str) -> Option<String> {
        if !self.router.has_routes() {
            return None;
        }
        let value = Uuid::new_v4().to_string();
        let request = Request::builder()
            .uri(path::fill_parameters(declared, &value))
            .body(Body::empty())
            .ok()?;
        let router = self
            .router
            .clone()
            .route_layer(middleware::from_fn(answer_with_route))
            .fallback(async || StatusCode::NOT_FOUND);
        let Ok(response) = router.oneshot(request).await;
        let route = response.extensions().get::<MatchedPath>();
        route.map(|route| route.as_str().to_owned())
    }
}

/// Answers a request with the path of its route among the extensions, and calls no handler.
async fn answer_with_route(request: Request, _: middleware::Next) -> Response {
    let mut response = Response::new(Body::empty());
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        response.extensions_mut().insert(route.clone());
    }
    response
}

/// Returns whether one router cannot hold both paths. A fixed segment may stand beside a parameter,
/// because the router prefers the fixed segment.
fn collides(declared: &str, custom: &str) -> bool {
    let (mut declared, mut custom) = (declared.split('/'), custom.split('/'));
    loop {
        match (declared.next(), custom.next()) {
            (None, None) => return true,
            (Some(declared), Some(custom)) if custom.starts_with("{*") => {
                return path::is_parameter(declared);
            }
            (Some(declared), Some(custom)) => {
                let are_parameters = path::is_parameter(declared) && path::is_parameter(custom);
                if declared != custom && !are_parameters {
                    return false;
                }
            }
            (Some(_), None) | (None, Some(_)) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;

    use super::*;

    async fn text() -> &'static str {
        "custom"
    }

    #[tokio::test]
    async fn a_path_of_a_declared_route_is_refused() {
        for (declared, custom) in [
            ("/books", "/books"),
            ("/books/{id}", "/books/{isbn}"),
            ("/books/{id}/borrow", "/books/{book}/borrow"),
            ("/books/{id}", "/books/{*rest}"),
        ] {
            let mut routes = CustomRoutes::<()>::default();
            routes.merge(Router::new().route(custom, get(text)));
            let error = routes
                .check_path_is_free(declared, "a command declares")
                .await;
            let sentence = error.unwrap_err().to_string();
            assert!(sentence.contains(custom), "{sentence}");
            assert!(sentence.contains(declared), "{sentence}");
        }
    }

    #[tokio::test]
    async fn other_paths_are_accepted_and_axum_can_hold_them_all() {
        let declared = ["/books/purchase", "/books/{p0}", "/books/{p0}/borrow"];
        for custom in [
            "/labels/{id}",
            "/books/labels",
            "/books/{id}/label",
            "/books/{id}/borrow/{step}",
            "/{*rest}",
        ] {
            let mut routes = CustomRoutes::<()>::default();
            routes.merge(Router::new().route(custom, get(text)));
            for declared in declared {
                let checked = routes.check_path_is_free(declared, "").await;
                assert!(checked.is_ok(), "{custom}");
            }
            let (router, _) = routes.into_parts();
            let router: Router = declared
                .into_iter()
                .fold(router, |router, path| router.route(path, get(text)));
            assert!(router.has_routes());
        }
    }
}
