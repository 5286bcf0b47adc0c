//! The reasons that a request of version 2 fails: errors of the domain, which have status 200 and a
//! code, and failures of the transport, which have another status and a text.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use super::{
    conditional_write::WriteFailure,
    domain_error::{DomainError, ErrorCode},
    envelope::write_error,
    error_response::ErrorResponse,
    ndjson::NDJSON,
    state::QueryLimitReached,
};
use es_eventql::QueryErrorKind;
use es_store::{AppendError, InvalidOptions, RegisterError, StoreError};

/// The failure of a request.
#[derive(Debug)]
pub(super) enum RequestFailure {
    /// The request is well-formed, but its values or the content of the store refuse it.
    Domain(DomainError),
    /// The request is malformed, or the server cannot answer it.
    Transport(ErrorResponse),
}

impl RequestFailure {
    /// Adds the index of the element of the request that is at fault.
    pub(super) fn with_index(self, index: usize) -> Self {
        match self {
            Self::Domain(error) => Self::Domain(error.with_detail("index", index)),
            transport @ Self::Transport(_) => transport,
        }
    }

    /// Creates the response of a route whose response is one JSON value instead of a stream.
    pub(super) fn into_single_response(self) -> Response {
        self.into_response_of(HeaderValue::from_static("application/json"))
    }

    fn into_response_of(self, content_type: HeaderValue) -> Response {
        match self {
            Self::Domain(error) => {
                let mut line = Vec::new();
                write_error(&error, &mut line);
                ([(header::CONTENT_TYPE, content_type)], line).into_response()
            }
            Self::Transport(response) => response.into_response(),
        }
    }
}

impl IntoResponse for RequestFailure {
    fn into_response(self) -> Response {
        self.into_response_of(NDJSON)
    }
}

impl From<DomainError> for RequestFailure {
    fn from(error: DomainError) -> Self {
        Self::Domain(error)
    }
}

impl From<QueryLimitReached> for RequestFailure {
    fn from(reached: QueryLimitReached) -> Self {
        Self::Transport(reached.into())
    }
}

impl From<ErrorResponse> for RequestFailure {
    fn from(response: ErrorResponse) -> Self {
        Self::Transport(response)
    }
}

impl From<InvalidOptions> for RequestFailure {
    fn from(error: InvalidOptions) -> Self {
        Self::Domain(error.into())
    }
}

/// The failure of a store that certainly stored nothing. A status of 500 would leave that open.
impl From<&StoreError> for RequestFailure {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } | StoreError::KeyStore(_) | StoreError::Refused(_) => {
                Self::Transport(error.into())
            }
            StoreError::Options(_) | StoreError::Full(_) => Self::Domain(error.into()),
            StoreError::Unauthorized { .. } | StoreError::Corrupt { .. } => {
                tracing::error!(%error, "the store failed");
                Self::Domain(error.into())
            }
        }
    }
}

impl From<StoreError> for RequestFailure {
    fn from(error: StoreError) -> Self {
        (&error).into()
    }
}

impl From<WriteFailure> for RequestFailure {
    fn from(failure: WriteFailure) -> Self {
        match failure {
            WriteFailure::Append(error) => error.into(),
            WriteFailure::Query(error) => match error.kind() {
                QueryErrorKind::Store(error) => error.into(),
                _ => Self::Domain((&error).into()),
            },
            WriteFailure::NotBoolean => {
                let text = "the query of a precondition must yield one row with a boolean";
                Self::Domain(DomainError::new(ErrorCode::QueryNotBoolean, text))
            }
            failure @ (WriteFailure::UnknownOutcome
            | WriteFailure::TooManyQueries(_)
            | WriteFailure::Contention
            | WriteFailure::SlowQueries) => Self::Transport(failure.into()),
        }
    }
}

impl From<AppendError> for RequestFailure {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict(conflict) => Self::Domain(conflict.into()),
            AppendError::Schema(conflict) => Self::Domain(conflict.into()),
            // No event store seals events by itself.
            error @ AppendError::ErasedPerson(_) => StoreError::Refused(error.to_string()).into(),
            AppendError::Store(error) => error.into(),
            error @ AppendError::Unknown { .. } => Self::Transport(error.into()),
        }
    }
}

impl From<RegisterError> for RequestFailure {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Conflict(conflict) => Self::Domain(conflict.into()),
            RegisterError::Store(error) => error.into(),
            error @ RegisterError::Unknown { .. } => Self::Transport(error.into()),
        }
    }
}
