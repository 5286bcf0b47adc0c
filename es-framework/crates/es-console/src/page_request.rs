//! The request for a page, and the page that answers it.

use axum::{
    Extension,
    body::Bytes,
    extract::{FromRequest, FromRequestParts as _, Request},
    http::{StatusCode, request::Parts},
    response::{IntoResponse as _, Response},
};
use maud::Markup;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    access::read_form,
    console::{Console, ConsoleState},
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    query_values::AddressValues,
};

/// A page, or a notice instead of it. The guard puts a notice into the frame of a page.
pub(crate) type PageResult = Result<Response, NoticePage>;

/// A request for a page. Its visitor has passed the guard. It holds one of the permits for pages.
pub(crate) struct PageRequest {
    pub(crate) state: ConsoleState,
    pub(crate) visitor: Visitor,
    pub(crate) query: AddressValues,
    pub(crate) head: Parts,
    /// The form of a `POST`.
    pub(crate) body: Bytes,
    permit: Option<OwnedSemaphorePermit>,
}

impl FromRequest<ConsoleState> for PageRequest {
    type Rejection = Response;

    async fn from_request(request: Request, state: &ConsoleState) -> Result<Self, Response> {
        let (mut head, body) = request.into_parts();
        let extension = Extension::from_request_parts(&mut head, state).await;
        let Extension(visitor) = extension.map_err(|error| error.into_response())?;
        let form = Bytes::from_request(Request::from_parts(head.clone(), body), state).await;
        let body = form.map_err(|error| error.into_response())?;
        // Acquired after the form is read, so that a slow client holds none.
        let Some(permit) = state.permits.acquire_page().await else {
            return Err(NoticePage::busy().into_response());
        };
        Ok(Self {
            state: state.clone(),
            visitor,
            query: AddressValues::parse(head.uri.query().unwrap_or_default()),
            head,
            body,
            permit: Some(permit),
        })
    }
}

impl PageRequest {
    pub(crate) fn console(&self) -> &Console {
        &self.state.console
    }

    /// Lets another page be built, while this one waits for something else.
    pub(crate) fn release_permit(&mut self) {
        self.permit = None;
    }

    /// Reads the fields of the form, which has to come from a page of this operator's session.
    pub(crate) fn read_form<T: DeserializeOwned>(&self) -> Result<T, NoticePage> {
        read_form(&self.state, &self.head.headers, &self.visitor, &self.body)
    }

    /// Returns the page with this content.
    pub(crate) fn respond(&self, section: Section, title: &str, content: &Markup) -> PageResult {
        Ok(self.respond_with(StatusCode::OK, section, title, content))
    }

    /// Returns the page with this status and content.
    pub(crate) fn respond_with(
        &self,
        status: StatusCode,
        section: Section,
        title: &str,
        content: &Markup,
    ) -> Response {
        let frame = PageFrame {
            application: self.console().name,
            visitor: &self.visitor,
            section,
            title,
        };
        frame.respond_with(status, content)
    }
}
