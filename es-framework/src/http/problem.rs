//! Errors as `application/problem+json` (RFC 9457).

mod document;
mod limits;

use axum::{
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{
    command::{CommandError, Rejection, RejectionKind, Violation},
    projection::{DatabaseError, ProgressError},
    query::QueryError,
    store::StoreError,
};

/// After so many seconds a caller may try again.
const RETRY_AFTER_SECONDS: u16 = 2;

/// What went wrong, for programs and for people.
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    name: &'static str,
    title: &'static str,
    detail: String,
    errors: Vec<Violation>,
    retry: bool,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        name: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            name,
            title,
            detail: detail.into(),
            errors: Vec::new(),
            retry: false,
        }
    }

    pub(super) fn retry_later(mut self) -> Self {
        self.retry = true;
        self
    }

    /// The status of the answer.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn no_such_path(path: &str) -> Self {
        let path: String = path.chars().take(200).collect();
        Self::new(
            StatusCode::NOT_FOUND,
            "no-such-path",
            "There is nothing at this path",
            format!("{path} is not a path of this service"),
        )
    }

    pub(super) fn method_not_allowed(method: &Method, path: &str) -> Self {
        let path: String = path.chars().take(200).collect();
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "The method does not fit the path",
            format!("{path} does not take {method}: the Allow header says what it takes"),
        )
    }

    pub(super) fn unsupported_media_type() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            "The body has an unsupported media type",
            "send the body as JSON, with the header Content-Type: application/json",
        )
    }

    pub(super) fn broken_body() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "malformed-body",
            "The body is malformed",
            "the body could not be read to its end",
        )
    }

    pub(super) fn no_such_row(path: &str) -> Self {
        let path: String = path.chars().take(200).collect();
        Self::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "There is no such thing",
            format!("nothing is known of {path}"),
        )
    }

    pub(super) fn invalid_header(name: &str, detail: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid-header",
            "A header is not valid",
            format!("the header {name} {detail}"),
        )
    }

    fn invalid(errors: Vec<Violation>) -> Self {
        let detail = match errors.as_slice() {
            [only] => format!("{} {}", only.pointer, only.message)
                .trim()
                .to_owned(),
            several => format!("{} values are not valid: see errors", several.len()),
        };
        let problem = Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid-values",
            "The values are not valid",
            detail,
        );
        Self { errors, ..problem }
    }

    fn rejected(rejection: &dyn Rejection) -> Self {
        let status = match rejection.kind() {
            RejectionKind::Conflict => StatusCode::CONFLICT,
            RejectionKind::Gone => StatusCode::GONE,
            RejectionKind::NotFound => StatusCode::NOT_FOUND,
            RejectionKind::Forbidden => StatusCode::FORBIDDEN,
            RejectionKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(
            status,
            rejection.name(),
            rejection.title(),
            rejection.to_string(),
        )
    }

    pub(super) fn internal(error: &dyn std::fmt::Display) -> Self {
        // The cause is for the log; the caller can do nothing with it.
        tracing::error!(%error, "a request failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal-error",
            "The service failed",
            "the service failed to carry this out; its log says why",
        )
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let detail = error.to_string();
        match error {
            CommandError::Malformed(_) => Self::new(
                StatusCode::BAD_REQUEST,
                "malformed-body",
                "The body is malformed",
                detail,
            ),
            CommandError::Invalid(errors) => Self::invalid(errors),
            CommandError::AlreadyExists(_) => Self::new(
                StatusCode::CONFLICT,
                "already-exists",
                "It already exists",
                detail,
            ),
            CommandError::NotFound(_) => Self::new(
                StatusCode::NOT_FOUND,
                "not-found",
                "There is no such thing",
                detail,
            ),
            CommandError::NotAsExpected { .. } => Self::new(
                StatusCode::PRECONDITION_FAILED,
                "changed-meanwhile",
                "It has changed meanwhile",
                detail,
            ),
            CommandError::KeyReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "The idempotency key belongs to another request",
                detail,
            ),
            CommandError::Rejected(rejection) => Self::rejected(&*rejection),
            CommandError::Contended(_) => Self::new(
                StatusCode::CONFLICT,
                "contended",
                "Others were faster",
                detail,
            )
            .retry_later(),
            CommandError::Unknown { .. } => {
                tracing::error!(error = detail, "the outcome of a command is unknown");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "outcome-unknown",
                    "It is unknown whether the command was carried out",
                    detail,
                )
                .retry_later()
            }
            CommandError::Store(error) => Self::from(error),
            CommandError::Decode(_) | CommandError::Encode(_) | CommandError::NotProvided(_) => {
                Self::internal(&detail)
            }
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => {
                tracing::warn!(%error, "a request found the event store away");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "event-store-unavailable",
                    "The event store is unavailable",
                    "the event store does not answer at the moment; nothing was written",
                )
                .retry_later()
            }
            StoreError::Full(_) => {
                tracing::error!(%error, "a request found the event store full");
                Self::new(
                    StatusCode::INSUFFICIENT_STORAGE,
                    "event-store-full",
                    "The event store is full",
                    "the event store has no room for more events; nothing was written",
                )
            }
            StoreError::Unauthorized { .. }
            | StoreError::Refused(_)
            | StoreError::Options(_)
            | StoreError::Corrupt { .. } => Self::internal(&error),
        }
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Invalid { parameter, message } => Self::new(
                StatusCode::BAD_REQUEST,
                "invalid-parameter",
                "A query parameter is not valid",
                format!("the parameter {parameter} {message}"),
            ),
            QueryError::NotFound => Self::new(
                StatusCode::NOT_FOUND,
                "not-found",
                "There is no such thing",
                error.to_string(),
            ),
            QueryError::Database(DatabaseError::TooExpensive) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "took-too-long",
                "It took too long",
                "the database ended the query: ask for less",
            )
            .retry_later(),
            QueryError::Database(DatabaseError::Busy) => Self::too_busy(),
            QueryError::Database(_)
            | QueryError::Row(_)
            | QueryError::Json(_)
            | QueryError::Undeclared { .. } => Self::internal(&error),
        }
    }
}

impl From<ProgressError> for Problem {
    fn from(error: ProgressError) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "position-not-reached",
            "The answer would be out of date",
            error.to_string(),
        )
        .retry_later()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let json = self.to_json();
        let problem_json = HeaderValue::from_static("application/problem+json");
        let mut response =
            (self.status, [(header::CONTENT_TYPE, problem_json)], json).into_response();
        if self.retry {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS.into());
        }
        response
    }
}
