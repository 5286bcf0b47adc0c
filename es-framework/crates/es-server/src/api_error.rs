//! The error of a request. Version 1 renders it as a status and one line of plain text. Version 2 sends a code with
//! status 200, unless the request is malformed or the server cannot answer it: then it responds as version 1 does.

use std::borrow::Cow;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error_code::ErrorCode;
use es_eventql::{QueryError, QueryErrorKind};
use es_store::{
    AppendError, Conflict, InvalidOptions, RegisterError, SchemaConflict, StoreError,
    schema::WorkBudget,
};

/// The text of a failure that concerns the credential of this server. A client cannot change it.
const NO_STORE_ACCESS: &str = "the server has no access to its store";

/// The reason that a request fails.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    /// The text of a response with this status. The response adds a line break.
    text: Cow<'static, str>,
    /// The code of version 2 for an error that concerns the values of the request or the content of the store.
    coded: Option<Box<CodedError>>,
}

/// The error that version 2 sends with status 200.
#[derive(Debug)]
struct CodedError {
    code: ErrorCode,
    description: Cow<'static, str>,
    details: Map<String, Value>,
}

impl ApiError {
    /// Creates an error that both versions send with this status.
    pub(super) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            text: text.into(),
            coded: None,
        }
    }

    /// Creates the error for an invalid request.
    pub(super) fn invalid_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Creates an error of version 2.
    pub(super) fn of_code(code: ErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        let description = description.into();
        Self::invalid_request(description.clone()).with_code(code, description)
    }

    /// Sets the code and the description of version 2.
    pub(super) fn with_code(
        self,
        code: ErrorCode,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        let coded = CodedError {
            code,
            description: description.into(),
            details: Map::new(),
        };
        Self {
            coded: Some(Box::new(coded)),
            ..self
        }
    }

    /// Adds a detail to an error with a code.
    pub(super) fn with_detail(mut self, name: &str, detail: impl Into<Value>) -> Self {
        if let Some(coded) = &mut self.coded {
            coded.details.insert(name.to_owned(), detail.into());
        }
        self
    }

    /// Creates the error for a request without the right token. Clients compare the whole text.
    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized")
    }

    /// Creates the error for an unknown path. EventSourcingDB answers with this text, and clients of
    /// both dialects rely on it.
    pub(super) fn unknown_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "404 page not found")
    }

    /// Creates the error for a known path with another method.
    pub(super) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed")
    }

    /// Creates the error for one observer too many.
    pub(super) fn too_many_observers(limit: usize) -> Self {
        Self::unavailable(format!(
            "there are {limit} observers already: try again later"
        ))
    }

    /// Creates the error for a request that the server cannot answer now. It has stored nothing.
    pub(super) fn unavailable(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Creates the error for a write that did not end in time. Clients treat this status as an
    /// unknown outcome.
    pub(super) fn unknown_outcome() -> Self {
        let text = "the write took too long: it is unknown whether the events were written";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// Creates the error of an observation that ends with the server.
    pub(super) fn shutdown() -> Self {
        Self::of_code(ErrorCode::ServerShuttingDown, "the server is shutting down")
    }

    /// Creates the error for a query that cannot be parsed.
    pub(super) fn malformed_query(error: &QueryError) -> Self {
        Self::invalid_request(format!("invalid query: {error}"))
            .with_code(ErrorCode::QueryMalformed, error.to_string())
            .with_place(error)
    }

    /// Creates the error for a query that fails while it runs.
    pub(super) fn failed_query(error: &QueryError) -> Self {
        match error.kind() {
            QueryErrorKind::Store(error) => Self::of_store(error),
            _ => Self::of_code(ErrorCode::QueryUnevaluable, error.to_string()).with_place(error),
        }
    }

    /// Creates the error for the query of a precondition that fails.
    pub(super) fn failed_precondition(error: &QueryError) -> Self {
        match error.kind() {
            QueryErrorKind::Store(error) => Self::nothing_stored(error),
            _ => Self {
                text: format!("invalid request: the query of a precondition: {error}").into(),
                ..Self::failed_query(error)
            },
        }
    }

    /// Adds the place in the query.
    fn with_place(self, error: &QueryError) -> Self {
        match error.start_token() {
            Some(token) => self
                .with_detail("line", token.line)
                .with_detail("column", token.column),
            None => self,
        }
    }

    /// Creates the error for a store that fails.
    pub(super) fn of_store(error: &StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::Refused(_) => Self::invalid_request(text),
            StoreError::Options(options) => (*options).into(),
            StoreError::Unavailable { .. } | StoreError::KeyStore(_) => Self::unavailable(text),
            StoreError::Full(_) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "insufficient storage")
                    .with_code(ErrorCode::DiskFull, "the disk is full")
            }
            StoreError::Unauthorized { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, NO_STORE_ACCESS)
                    .with_code(ErrorCode::StoreFailed, NO_STORE_ACCESS)
            }
            StoreError::Corrupt { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, text.clone())
                    .with_code(ErrorCode::StoreFailed, text)
            }
        }
    }

    /// Creates the error for a write or a registration that failed before the store changed. Clients take the
    /// status 500 for an unknown outcome.
    pub(super) fn nothing_stored(error: &StoreError) -> Self {
        let failed = Self::logged(error);
        let status = match failed.status {
            StatusCode::INTERNAL_SERVER_ERROR => StatusCode::SERVICE_UNAVAILABLE,
            status => status,
        };
        Self { status, ..failed }
    }

    fn logged(error: &StoreError) -> Self {
        let failed = Self::of_store(error);
        if failed.status.is_server_error() {
            tracing::error!(%error, "the store failed");
        }
        failed
    }

    /// Returns true if version 2 sends a code.
    pub(super) const fn has_code(&self) -> bool {
        self.coded.is_some()
    }

    /// Returns true if the client of version 2 cannot tell if the request had an effect.
    pub(super) fn leaves_outcome_unknown(&self) -> bool {
        self.coded.is_none() && self.status == StatusCode::INTERNAL_SERVER_ERROR
    }

    /// Returns the error as version 2 sends it in an envelope, where no status can be sent any more.
    pub(super) fn payload(&self) -> impl Serialize {
        match &self.coded {
            Some(coded) => json!({
                "code": coded.code.url(),
                "description": coded.description,
                "details": coded.details,
            }),
            None => json!({
                "code": ErrorCode::StoreFailed.url(),
                "description": self.text,
                "details": {},
            }),
        }
    }
}

impl IntoResponse for ApiError {
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

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::logged(&error)
    }
}

impl From<InvalidOptions> for ApiError {
    fn from(error: InvalidOptions) -> Self {
        let text = error.to_string();
        Self::of_code(ErrorCode::SelectionConflicting, text)
    }
}

impl From<Conflict> for ApiError {
    fn from(conflict: Conflict) -> Self {
        let text = "precondition is violated";
        let error = Self::new(StatusCode::CONFLICT, conflict.to_string())
            .with_code(ErrorCode::PreconditionViolated, text);
        match conflict.precondition {
            Some(index) => error.with_detail("precondition", index),
            None => error,
        }
    }
}

impl From<SchemaConflict> for ApiError {
    fn from(conflict: SchemaConflict) -> Self {
        let text = conflict.to_string();
        let error = Self::new(StatusCode::CONFLICT, text.clone());
        match conflict {
            SchemaConflict::Candidate(reason) => {
                let text = format!("event violates its schema: {reason}");
                error
                    .with_code(ErrorCode::EventSchemaViolated, text)
                    .with_detail("reason", reason)
            }
            SchemaConflict::Event { id, reason } => {
                let text = format!("event {id} violates the schema: {reason}");
                error
                    .with_code(ErrorCode::EventSchemaViolated, text)
                    .with_detail("eventId", id.to_string())
                    .with_detail("reason", reason)
            }
            SchemaConflict::Exists => {
                let text = "the event type has a schema already";
                error.with_code(ErrorCode::EventSchemaAlreadyRegistered, text)
            }
            SchemaConflict::TooMuchWork => error
                .with_code(ErrorCode::EventSchemaViolated, text)
                .with_detail("maxSteps", WorkBudget::WRITE),
            SchemaConflict::TooManySchemas => error.with_code(ErrorCode::CapacityExceeded, text),
            SchemaConflict::NoValidator => error,
        }
    }
}

impl From<AppendError> for ApiError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict(conflict) => conflict.into(),
            AppendError::Schema(conflict) => conflict.into(),
            // No event store seals events by itself.
            error @ AppendError::ErasedPerson(_) => {
                Self::invalid_request(StoreError::Refused(error.to_string()).to_string())
            }
            AppendError::Store(error) => Self::nothing_stored(&error),
            error @ AppendError::Unknown { .. } => {
                tracing::error!(%error, "the outcome of a write is unknown");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl From<RegisterError> for ApiError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Conflict(conflict) => conflict.into(),
            RegisterError::Store(error) => Self::nothing_stored(&error),
            error @ RegisterError::Unknown { .. } => {
                tracing::error!(%error, "the outcome of a schema registration is unknown");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(error: StoreError) -> u16 {
        ApiError::from(error).into_response().status().as_u16()
    }

    #[test]
    fn each_error_of_the_store_has_its_status() {
        let (address, reason) = (|| "here".to_owned(), || "disk".to_owned());
        let unavailable = StoreError::Unavailable {
            address: address(),
            reason: reason(),
        };
        let response = ApiError::from(unavailable).into_response();
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
        assert_eq!(ApiError::from(unknown).status, 500);
    }

    #[test]
    fn an_error_before_anything_is_stored_is_no_unknown_outcome() {
        let corrupt = || StoreError::Corrupt {
            address: "here".to_owned(),
            reason: "a bit is wrong".to_owned(),
        };
        for response in [
            ApiError::from(AppendError::Store(corrupt())),
            ApiError::from(RegisterError::Store(corrupt())),
        ] {
            assert_eq!(response.status, 503);
            assert!(response.text.contains("a bit is wrong"));
        }
    }

    #[test]
    fn an_error_has_the_url_of_its_code() {
        let error =
            ApiError::of_code(ErrorCode::EventTypeUnknown, "unknown").with_detail("value", "a.b");
        let expected = json!({
            "code": "https://docs.eventsourcingdb.io/errors/event-type-unknown",
            "description": "unknown",
            "details": {"value": "a.b"},
        });
        assert_eq!(serde_json::to_value(error.payload()).unwrap(), expected);
    }
}
