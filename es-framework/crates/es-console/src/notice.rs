//! Pages that say one thing, such as an error.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use es_store::StoreError;
use maud::html;

use crate::layout::{PageFrame, Section, Visitor};

/// A page that says one thing instead of the page that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct NoticePage {
    status: StatusCode,
    heading: &'static str,
    detail: String,
}

impl NoticePage {
    /// Says that something does not exist.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found", detail)
    }

    /// Says that the address or the form has a wrong value.
    pub(crate) fn invalid_input(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "Not valid", detail)
    }

    /// Says that the reader may not do this.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Not allowed", detail)
    }

    /// Says that the database of the read models does not answer as it should.
    pub(crate) fn read_models_unavailable(detail: impl Into<String>) -> Self {
        let heading = "The read models do not answer";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, heading, detail)
    }

    /// Says that the console has too much to do.
    pub(crate) fn busy() -> Self {
        let detail = "The console is building as many pages as it may. Try again in a moment.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Busy", detail)
    }

    fn new(status: StatusCode, heading: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            heading,
            detail: detail.into(),
        }
    }

    /// Returns the page.
    pub(crate) fn respond(&self, application: &'static str, visitor: &Visitor) -> Response {
        let frame = PageFrame {
            application,
            visitor,
            section: Section::Other,
            title: self.heading,
        };
        let content = html! {
            div.notice {
                h1 { (self.heading) }
                p { (self.detail) }
                p { a href="/console" { "To the events" } }
            }
        };
        frame.respond_with(self.status, &content)
    }
}

/// The response carries the notice to the guard, which knows the visitor.
impl IntoResponse for NoticePage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for NoticePage {
    fn from(error: StoreError) -> Self {
        let heading = match error {
            StoreError::KeyStore(_) => "The key store does not work",
            _ => "The event store does not answer",
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, heading, error.to_string())
    }
}
