//! The place of the console in a program that was compiled without it.

use axum::Router;
use es_model::ApplicationModel;

use crate::{command::Registry, config::Settings, http::HttpContext, projection::ReadModels};

/// Returns no routes. A setting that asks for the console has been refused before.
pub(super) fn routes(
    _: &'static str,
    _: &Settings,
    _: &Registry,
    _: ReadModels,
    _: ApplicationModel,
    _: &HttpContext,
    _: Option<&str>,
) -> Option<Router> {
    None
}
