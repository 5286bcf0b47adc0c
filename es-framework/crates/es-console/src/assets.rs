//! The files of the pages: style, icon and scripts. They hold nothing secret, so everyone may load them.

use axum::{
    Router,
    http::header,
    response::{IntoResponse as _, Response},
    routing::get,
};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The path of a file, its media type and its content.
type ConsoleAsset = (&'static str, &'static str, &'static str);

const ASSETS: [ConsoleAsset; 6] = [
    (
        "/console/assets/frame.css",
        STYLE,
        include_str!("assets/frame.css"),
    ),
    (
        "/console/assets/pages.css",
        STYLE,
        include_str!("assets/pages.css"),
    ),
    ("/console/assets/model.css", STYLE, es_catalog::model::STYLE),
    (
        "/console/assets/keys.js",
        SCRIPT,
        include_str!("assets/keys.js"),
    ),
    (
        "/console/assets/live.js",
        SCRIPT,
        include_str!("assets/live.js"),
    ),
    (
        "/console/assets/eventql.js",
        SCRIPT,
        include_str!("assets/eventql.js"),
    ),
];

/// Adds the routes of the files.
pub(crate) fn routes(router: Router) -> Router {
    ASSETS.into_iter().fold(router, |router, asset| {
        router.route(asset.0, get(async move || show(asset)))
    })
}

fn show((_, content_type, content): ConsoleAsset) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        // A new version of the program has other files, so browsers must ask again.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, content).into_response()
}
