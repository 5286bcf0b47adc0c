//! Errors as `application/problem+json` (RFC 9457).

mod document;
pub(super) mod kind;
mod limit_problems;

use std::fmt;

use axum::{
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use es_command::{
    command::{CommandError, Rejection, Violation},
    validate::MAX_VIOLATIONS,
};
use es_event::EventId;
use es_read::{projection::DatabaseError, query::QueryError};
use es_store::StoreError;
use es_subscribe::ProgressError;

use kind::ProblemKind;

/// The number of seconds after which a caller may retry.
pub(super) const RETRY_AFTER_SECONDS: u16 = 2;

/// The description of an error, for programs and for people (RFC 9457).
///
/// ```
/// use axum::http::StatusCode;
/// use es_command::command::CommandError;
/// use es_http::Problem;
///
/// let problem = Problem::from(CommandError::NotFound("/books/42".parse()?));
/// assert_eq!(problem.status(), StatusCode::NOT_FOUND);
/// # Ok::<_, es_event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone)]
pub struct Problem {
    kind: ProblemKind,
    detail: String,
    errors: Vec<Violation>,
    /// The credential that the request lacks, as the header `WWW-Authenticate` has it.
    challenge: Option<&'static str>,
}

impl Problem {
    pub(super) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            errors: Vec::new(),
            challenge: None,
        }
    }

    pub(super) fn with_challenge(mut self, challenge: &'static str) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// Returns the status of the response.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.kind.status
    }

    /// Returns true if the read models lack events that the response must contain.
    pub(super) fn is_lag(&self) -> bool {
        self.kind.name == kind::POSITION_NOT_REACHED.name
    }

    pub(super) fn no_such_path(path: &str) -> Self {
        let path = shortened(path);
        Self::new(
            kind::NO_SUCH_PATH,
            format!("{path} is not a path of this service"),
        )
    }

    pub(super) fn method_not_allowed(method: &Method, path: &str) -> Self {
        let path = shortened(path);
        Self::new(
            kind::METHOD_NOT_ALLOWED,
            format!("{path} does not take {method}: the Allow header says what it takes"),
        )
    }

    pub(super) fn unsupported_media_type() -> Self {
        Self::new(
            kind::UNSUPPORTED_MEDIA_TYPE,
            "send the body as JSON, with the header Content-Type: application/json",
        )
    }

    pub(super) fn unsupported_encoding() -> Self {
        Self::new(
            kind::UNSUPPORTED_MEDIA_TYPE,
            "send the body as it is, without the header Content-Encoding",
        )
    }

    pub(super) fn broken_body() -> Self {
        Self::new(
            kind::MALFORMED_BODY,
            "the body could not be read to its end",
        )
    }

    pub(super) fn no_such_row(path: &str) -> Self {
        let path = shortened(path);
        Self::new(kind::NOT_FOUND, format!("nothing is known of {path}"))
    }

    pub(super) fn missing_role(roles: &[&str]) -> Self {
        let roles = roles.join(" or ");
        Self::new(
            kind::FORBIDDEN,
            format!("this takes the role {roles}, which the caller does not have"),
        )
    }

    pub(super) fn no_such_event(position: EventId) -> Self {
        Self::new(
            kind::NO_SUCH_EVENT,
            format!("the header Event-Position names the event {position}, which there is not"),
        )
    }

    pub(super) fn invalid_header(name: &str, detail: &str) -> Self {
        Self::new(kind::INVALID_HEADER, format!("the header {name} {detail}"))
    }

    fn invalid(errors: Vec<Violation>) -> Self {
        let detail = match errors.as_slice() {
            [only] => format!("{} {}", only.pointer, only.message)
                .trim()
                .to_owned(),
            several if several.len() >= MAX_VIOLATIONS => {
                format!("{MAX_VIOLATIONS} values or more are not valid: errors has the first ones")
            }
            several => format!("{} values are not valid: see errors", several.len()),
        };
        let problem = Self::new(kind::INVALID_VALUES, detail);
        Self { errors, ..problem }
    }

    /// Names the rule and the field, and neither the value nor its owner.
    fn not_unique(rule: &str, member: &str, detail: String) -> Self {
        let taken = Violation {
            pointer: format!("/{member}"),
            message: format!("is taken, by the rule {rule}"),
        };
        let problem = Self::new(kind::NOT_UNIQUE, detail);
        let errors = vec![taken];
        Self { errors, ..problem }
    }

    fn rejected(rejection: &dyn Rejection) -> Self {
        Self::new(rejection.descriptor().into(), rejection.to_string())
    }

    pub(super) fn log_internal_error(error: &dyn std::fmt::Display) -> Self {
        // Only the log contains the cause, because callers cannot act on it.
        tracing::error!(%error, "a request failed");
        Self::new(
            kind::INTERNAL_ERROR,
            "the service failed to carry this out; its log says why",
        )
    }
}

/// Writes the last segment of the type, and the sentence about this occurrence.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name, self.detail)
    }
}

/// Returns the beginning of a path, which may be long.
fn shortened(path: &str) -> String {
    path.chars().take(200).collect()
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let detail = error.to_string();
        match error {
            CommandError::Malformed(_) => Self::new(kind::MALFORMED_BODY, detail),
            CommandError::Invalid(errors) => Self::invalid(errors),
            CommandError::AlreadyExists(_) => Self::new(kind::ALREADY_EXISTS, detail),
            CommandError::NotFound(_) => Self::new(kind::NOT_FOUND, detail),
            CommandError::NotAsExpected { .. } => Self::new(kind::CHANGED_MEANWHILE, detail),
            CommandError::KeyReused => Self::new(kind::IDEMPOTENCY_KEY_REUSED, detail),
            CommandError::NotOwner(_) => Self::new(kind::NOT_OWNER, detail),
            CommandError::ErasedPerson(_) => Self::new(kind::ERASED_PERSON, detail),
            CommandError::NotUnique { rule, member } => Self::not_unique(rule, member, detail),
            CommandError::Rejected(rejection) => Self::rejected(&*rejection),
            CommandError::Contended(_) => Self::new(kind::CONTENDED, detail),
            CommandError::Unknown { .. } => {
                tracing::error!(error = detail, "the outcome of a command is unknown");
                Self::new(kind::OUTCOME_UNKNOWN, detail)
            }
            CommandError::Store(error) => Self::from(error),
            CommandError::Encode(_) => {
                tracing::error!(error = %detail, "a decision was not appended");
                let detail =
                    format!("nothing was stored, because of a mistake in the service: {detail}");
                Self::new(kind::INTERNAL_ERROR, detail)
            }
            CommandError::Decode(_) | CommandError::NotProvided(_) => {
                Self::log_internal_error(&detail)
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
                    kind::EVENT_STORE_UNAVAILABLE,
                    "the event store does not answer at the moment; nothing was written",
                )
            }
            StoreError::KeyStore(_) => {
                tracing::warn!(%error, "a request found the key store away");
                Self::new(
                    kind::KEY_STORE_UNAVAILABLE,
                    "the store of the keys of persons fails at the moment; nothing was written",
                )
            }
            StoreError::Full(_) => {
                tracing::error!(%error, "a request found the event store full");
                Self::new(
                    kind::EVENT_STORE_FULL,
                    "the event store has no room for more events; nothing was written",
                )
            }
            StoreError::Unauthorized { .. }
            | StoreError::Refused(_)
            | StoreError::Options(_)
            | StoreError::Corrupt { .. } => Self::log_internal_error(&error),
        }
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Invalid { parameter, message } => Self::new(
                kind::INVALID_PARAMETER,
                format!("the parameter {parameter} {message}"),
            ),
            QueryError::NotFound => Self::new(kind::NOT_FOUND, error.to_string()),
            QueryError::NotOwner(_) => Self::new(kind::NOT_OWNER, error.to_string()),
            QueryError::NotVisible { .. } => Self::new(kind::NOT_VISIBLE, error.to_string()),
            QueryError::Database(DatabaseError::TooExpensive) => Self::new(
                kind::TOOK_TOO_LONG,
                "the database ended the query: ask for less",
            ),
            QueryError::SumTooLarge { .. } => Self::new(kind::SUM_TOO_LARGE, error.to_string()),
            QueryError::Database(DatabaseError::Busy) => Self::too_busy(),
            QueryError::TooManyRows { limit, .. } => {
                tracing::error!(%error, "a query has too many rows");
                let detail = format!(
                    "the answer has more than {limit} rows, which the service does not return at once"
                );
                Self::new(kind::INTERNAL_ERROR, detail)
            }
            QueryError::Database(DatabaseError::ShareInUse) => Self::share_in_use(),
            QueryError::Database(outage) if outage.is_outage() => {
                tracing::warn!(error = %outage, "a query found the database of read models away");
                Self::new(
                    kind::READ_MODELS_UNAVAILABLE,
                    "the database of the read models does not answer at the moment",
                )
            }
            QueryError::Database(damage) if damage.is_table_damage() => {
                tracing::error!(error = %damage, "a query found a damaged table, which is made again");
                Self::new(
                    kind::READ_MODELS_UNAVAILABLE,
                    "the table of the read model is made again from the events",
                )
            }
            QueryError::Database(_)
            | QueryError::Row(_)
            | QueryError::Json(_)
            | QueryError::LongSortValues
            | QueryError::UnsortableValue
            | QueryError::NotProvided { .. }
            | QueryError::NotSearchable { .. }
            | QueryError::Undeclared { .. } => Self::log_internal_error(&error),
        }
    }
}

impl From<ProgressError> for Problem {
    fn from(error: ProgressError) -> Self {
        Self::new(kind::POSITION_NOT_REACHED, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let json = self.to_json();
        let problem_json = HeaderValue::from_static("application/problem+json");
        let mut response = (
            self.kind.status,
            [(header::CONTENT_TYPE, problem_json)],
            json,
        )
            .into_response();
        let headers = response.headers_mut();
        if self.kind.retry {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS.into());
        }
        if let Some(challenge) = self.challenge {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static(challenge),
            );
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_errors_that_is_cut_off_says_so() {
        let detail = |count| {
            let message = "is missing".to_owned();
            let pointer = String::new();
            Problem::invalid(vec![Violation { pointer, message }; count]).detail
        };
        assert_eq!(detail(99), "99 values are not valid: see errors");
        let cut = "100 values or more are not valid: errors has the first ones";
        assert_eq!(detail(100), cut);
    }
}
