//! Answers that say no: a status and one line of plain text.

use std::borrow::Cow;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::store::{
    AppendError, Conflict, InvalidOptions, RegisterError, SchemaConflict, StoreError,
};

/// Why a request was not done. The line break that ends its text is added when it is sent.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    text: Cow<'static, str>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self { status, text }
    }

    /// The request is wrong in itself.
    pub(super) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    pub(super) fn unauthorized() -> Self {
        let text = "unauthorized: send the header Authorization: Bearer <API_TOKEN>";
        Self::new(StatusCode::UNAUTHORIZED, text)
    }

    /// The text is that of the real server, which clients of both generations know.
    pub(super) fn unknown_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "404 page not found")
    }

    pub(super) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed")
    }

    pub(super) fn too_large(limit: usize) -> Self {
        let text = format!("the request body is larger than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    pub(super) fn too_slow() -> Self {
        let text = "the request body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    pub(super) fn too_many_observers(limit: usize) -> Self {
        let text = format!("there are {limit} observers already: try again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// A write that was begun and did not end in time. Clients take this status as an outcome that
    /// nobody knows.
    pub(super) fn unknown_outcome() -> Self {
        let text = "the write took too long: it is unknown whether the events were written";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }
}

impl IntoResponse for Failure {
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

impl From<Conflict> for Failure {
    fn from(conflict: Conflict) -> Self {
        Self::new(StatusCode::CONFLICT, conflict.to_string())
    }
}

impl From<SchemaConflict> for Failure {
    fn from(conflict: SchemaConflict) -> Self {
        Self::new(StatusCode::CONFLICT, conflict.to_string())
    }
}

impl From<RegisterError> for Failure {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Conflict(conflict) => conflict.into(),
            RegisterError::Store(error) => error.into(),
            RegisterError::Unknown { .. } => {
                tracing::error!(%error, "a registration ended without an outcome");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl From<InvalidOptions> for Failure {
    fn from(options: InvalidOptions) -> Self {
        Self::invalid(options.to_string())
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict(conflict) => conflict.into(),
            AppendError::Schema(conflict) => conflict.into(),
            AppendError::Store(error) => error.into(),
            AppendError::Unknown { .. } => {
                tracing::error!(%error, "a write ended without an outcome");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Refused(_) | StoreError::Options(_) => StatusCode::BAD_REQUEST,
            StoreError::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
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
            // About this server's own credential, which is nothing the client could mend.
            StoreError::Unauthorized { .. } => {
                Self::new(status, "the server has no access to its store")
            }
            error => Self::new(status, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(error: StoreError) -> u16 {
        Failure::from(error).into_response().status().as_u16()
    }

    #[test]
    fn each_error_of_the_store_has_its_status() {
        let (address, reason) = (|| "here".to_owned(), || "disk".to_owned());
        let unavailable = StoreError::Unavailable {
            address: address(),
            reason: reason(),
        };
        let response = Failure::from(unavailable).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        assert_eq!(status(StoreError::Full("disk".into())), 507);
        assert_eq!(status(StoreError::Refused("no".into())), 400);
        assert_eq!(status(StoreError::Options(InvalidOptions)), 400);
        assert_eq!(
            status(StoreError::Corrupt {
                address: address(),
                reason: reason()
            }),
            500
        );
        let unknown = AppendError::Unknown {
            address: address(),
            reason: reason(),
        };
        assert_eq!(Failure::from(unknown).status, 500);
    }
}
