//! Error responses: a status and one line of plain text.

use std::borrow::Cow;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    conditional_write::{CONTENTION, SLOW_QUERIES, WriteFailure},
    domain_error::NO_STORE_ACCESS,
    range_bounds::UnsatisfiableRange,
    state::QueryLimitReached,
};
use es_eventql::QueryErrorKind;
use es_store::{AppendError, Conflict, InvalidOptions, RegisterError, SchemaConflict, StoreError};

/// The status and the text of an error response. The response adds a line break to the text.
#[derive(Debug)]
pub(super) struct ErrorResponse {
    status: StatusCode,
    text: Cow<'static, str>,
}

impl ErrorResponse {
    /// Creates a response of this status.
    pub(super) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self { status, text }
    }

    /// Returns the response to an invalid request.
    pub(super) fn invalid_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Returns the response to a request without the right token. Clients compare the whole text.
    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized")
    }

    /// Returns the response to an unknown path. EventSourcingDB answers with this text, and clients of
    /// both dialects rely on it.
    pub(super) fn unknown_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "404 page not found")
    }

    /// Returns the response to a known path with another method.
    pub(super) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed")
    }

    /// Returns the response to a body beyond the limit.
    pub(super) fn body_too_large(limit: usize) -> Self {
        let text = format!("the request body is larger than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    /// Returns the response to a body with a content encoding.
    pub(super) fn encoded_body() -> Self {
        let text = "the request body has a content encoding: send it as it is";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
    }

    /// Returns the response to a body that does not arrive in time.
    pub(super) fn body_too_slow() -> Self {
        let text = "the request body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// Returns the response to one observer too many.
    pub(super) fn too_many_observers(limit: usize) -> Self {
        let text = format!("there are {limit} observers already: try again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Returns the response to a write that did not end in time. Clients treat this status as an
    /// unknown outcome.
    pub(super) fn unknown_outcome() -> Self {
        let text = "the write took too long: it is unknown whether the events were written";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }
}

impl ErrorResponse {
    /// Returns the response to a write or a registration that failed before the store changed. Clients take the
    /// status 500 for an unknown outcome.
    fn nothing_stored(error: &StoreError) -> Self {
        let Self { status, text } = error.into();
        match status {
            StatusCode::INTERNAL_SERVER_ERROR => Self::new(StatusCode::SERVICE_UNAVAILABLE, text),
            status => Self::new(status, text),
        }
    }

    /// Returns true if the client cannot tell if the request had an effect.
    pub(super) fn leaves_outcome_unknown(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR
    }

    /// Returns the text without its final line break.
    pub(super) fn into_text(self) -> Cow<'static, str> {
        self.text
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        let text_type = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, text_type);
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        (self.status, headers, format!("{}\n", self.text)).into_response()
    }
}

impl From<Conflict> for ErrorResponse {
    fn from(conflict: Conflict) -> Self {
        Self::new(StatusCode::CONFLICT, conflict.to_string())
    }
}

impl From<SchemaConflict> for ErrorResponse {
    fn from(conflict: SchemaConflict) -> Self {
        Self::new(StatusCode::CONFLICT, conflict.to_string())
    }
}

impl From<RegisterError> for ErrorResponse {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Conflict(conflict) => conflict.into(),
            RegisterError::Store(error) => Self::nothing_stored(&error),
            RegisterError::Unknown { .. } => {
                tracing::error!(%error, "the outcome of a schema registration is unknown");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl From<InvalidOptions> for ErrorResponse {
    fn from(error: InvalidOptions) -> Self {
        Self::invalid_request(error.to_string())
    }
}

impl From<UnsatisfiableRange> for ErrorResponse {
    fn from(error: UnsatisfiableRange) -> Self {
        Self::invalid_request(error.to_string())
    }
}

impl From<AppendError> for ErrorResponse {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict(conflict) => conflict.into(),
            AppendError::Schema(conflict) => conflict.into(),
            error @ AppendError::ErasedPerson(_) => {
                Self::nothing_stored(&StoreError::Refused(error.to_string()))
            }
            AppendError::Store(error) => Self::nothing_stored(&error),
            AppendError::Unknown { .. } => {
                tracing::error!(%error, "the outcome of a write is unknown");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl From<QueryLimitReached> for ErrorResponse {
    fn from(QueryLimitReached(limit): QueryLimitReached) -> Self {
        let text = format!("there are {limit} queries already: try again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

impl From<WriteFailure> for ErrorResponse {
    fn from(failure: WriteFailure) -> Self {
        match failure {
            WriteFailure::Append(error) => error.into(),
            WriteFailure::UnknownOutcome => Self::unknown_outcome(),
            WriteFailure::Query(error) => match error.kind() {
                QueryErrorKind::Store(error) => Self::nothing_stored(error),
                _ => Self::invalid_request(format!(
                    "invalid request: the query of a precondition: {error}"
                )),
            },
            WriteFailure::NotBoolean => Conflict::default().into(),
            WriteFailure::TooManyQueries(reached) => reached.into(),
            WriteFailure::Contention => Self::new(StatusCode::SERVICE_UNAVAILABLE, CONTENTION),
            WriteFailure::SlowQueries => Self::new(StatusCode::SERVICE_UNAVAILABLE, SLOW_QUERIES),
        }
    }
}

impl From<StoreError> for ErrorResponse {
    fn from(error: StoreError) -> Self {
        (&error).into()
    }
}

impl From<&StoreError> for ErrorResponse {
    fn from(error: &StoreError) -> Self {
        let status = match error {
            StoreError::Refused(_) | StoreError::Options(_) => StatusCode::BAD_REQUEST,
            StoreError::Unavailable { .. } | StoreError::KeyStore(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            StoreError::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
            StoreError::Unauthorized { .. } | StoreError::Corrupt { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        if status.is_server_error() {
            tracing::error!(%error, "the store failed");
        }
        match error {
            StoreError::Full(_) => Self::new(status, "insufficient storage"),
            StoreError::Unauthorized { .. } => Self::new(status, NO_STORE_ACCESS),
            error => Self::new(status, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(error: StoreError) -> u16 {
        ErrorResponse::from(error).into_response().status().as_u16()
    }

    #[test]
    fn each_error_of_the_store_has_its_status() {
        let (address, reason) = (|| "here".to_owned(), || "disk".to_owned());
        let unavailable = StoreError::Unavailable {
            address: address(),
            reason: reason(),
        };
        let response = ErrorResponse::from(unavailable).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        assert_eq!(status_of(StoreError::Full("disk".into())), 507);
        assert_eq!(status_of(StoreError::Refused("no".into())), 400);
        assert_eq!(status_of(StoreError::Options(InvalidOptions)), 400);
        assert_eq!(
            status_of(StoreError::Corrupt {
                address: address(),
                reason: reason()
            }),
            500
        );
        let unknown = AppendError::Unknown {
            address: address(),
            reason: reason(),
        };
        assert_eq!(ErrorResponse::from(unknown).status, 500);
    }

    #[test]
    fn an_error_before_anything_is_stored_is_no_unknown_outcome() {
        let corrupt = || StoreError::Corrupt {
            address: "here".to_owned(),
            reason: "a bit is wrong".to_owned(),
        };
        for response in [
            ErrorResponse::from(AppendError::Store(corrupt())),
            ErrorResponse::from(RegisterError::Store(corrupt())),
        ] {
            assert_eq!(response.status, 503);
            assert!(response.text.contains("a bit is wrong"));
        }
    }
}
