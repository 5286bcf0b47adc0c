//! The place of the console in a program that was compiled without it.

use axum::Router;

use crate::{
    catalog::{Catalog, Finding},
    config::Settings,
    http::HttpContext,
};

/// Returns no routes. A setting that asks for the console has been refused before.
pub(super) fn routes(
    _: &'static str,
    _: &Settings,
    _: &Catalog,
    _: &[Finding],
    _: &HttpContext,
    _: Option<&str>,
) -> Option<Router> {
    None
}
