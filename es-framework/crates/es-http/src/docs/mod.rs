//! `GET /docs`: a page to try the application. It reads `/openapi.json`. Its files are part of the
//! program, and it loads nothing from other servers.

use axum::{
    Router,
    http::header,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};

/// The path of the page.
const PATH: &str = "/docs";

/// The page loads files from this service only. It has no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file of the page.
type Asset = (&'static str, &'static str, &'static str);

const ASSETS: [Asset; 12] = [
    ("/docs", HTML, include_str!("assets/index.html")),
    (
        "/docs/icon.svg",
        "image/svg+xml",
        include_str!("assets/icon.svg"),
    ),
    ("/docs/style.css", STYLE, include_str!("assets/style.css")),
    ("/docs/answer.css", STYLE, include_str!("assets/answer.css")),
    ("/docs/main.js", SCRIPT, include_str!("assets/main.js")),
    (
        "/docs/operation.js",
        SCRIPT,
        include_str!("assets/operation.js"),
    ),
    ("/docs/field.js", SCRIPT, include_str!("assets/field.js")),
    (
        "/docs/request.js",
        SCRIPT,
        include_str!("assets/request.js"),
    ),
    ("/docs/answer.js", SCRIPT, include_str!("assets/answer.js")),
    ("/docs/json.js", SCRIPT, include_str!("assets/json.js")),
    ("/docs/dom.js", SCRIPT, include_str!("assets/dom.js")),
    (
        "/docs/description.js",
        SCRIPT,
        include_str!("assets/description.js"),
    ),
];

/// Returns the paths of the page.
pub(super) fn page_paths() -> impl Iterator<Item = &'static str> {
    ASSETS.into_iter().map(|(path, ..)| path).chain(["/docs/"])
}

/// Adds the routes of the page.
pub(super) fn add_routes<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    let router = router.route("/docs/", get(redirect));
    ASSETS.into_iter().fold(router, |router, asset| {
        router.route(asset.0, get(async move || show(asset)))
    })
}

/// Redirects to the page.
pub(super) async fn redirect() -> Redirect {
    Redirect::temporary(PATH)
}

/// Creates the response with an asset.
fn show((_, content_type, content): Asset) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // A new version of the program has another page, so browsers must ask again.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, content).into_response()
}
