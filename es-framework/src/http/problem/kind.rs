//! The kinds of problems that the framework returns, with their constant parts.

use axum::http::StatusCode;

use crate::command::{RejectionDescriptor, RejectionKind};

/// The prefix of a problem's name in its `type`: a `tag` URI, as RFC 9457 advises for types that
/// cannot be looked up.
const TYPE_PREFIX: &str = "tag:es-framework,2026:problem:";

/// The constant parts of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct ProblemKind {
    pub(in crate::http) status: StatusCode,
    /// The last segment of the problem's `type`.
    pub(in crate::http) name: &'static str,
    pub(in crate::http) title: &'static str,
    /// True if the same request may succeed a little later.
    pub(in crate::http) retry: bool,
}

impl ProblemKind {
    const fn new(status: StatusCode, name: &'static str, title: &'static str) -> Self {
        let retry = false;
        Self {
            status,
            name,
            title,
            retry,
        }
    }

    const fn retry_later(mut self) -> Self {
        self.retry = true;
        self
    }

    /// Returns the `type`.
    pub(in crate::http) fn uri(&self) -> String {
        format!("{TYPE_PREFIX}{}", self.name)
    }
}

impl From<&RejectionDescriptor> for ProblemKind {
    fn from(rejection: &RejectionDescriptor) -> Self {
        let status = match rejection.kind {
            RejectionKind::Conflict => StatusCode::CONFLICT,
            RejectionKind::Gone => StatusCode::GONE,
            RejectionKind::NotFound => StatusCode::NOT_FOUND,
            RejectionKind::Forbidden => StatusCode::FORBIDDEN,
            RejectionKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, rejection.name, rejection.title)
    }
}

pub(in crate::http) const NO_SUCH_PATH: ProblemKind = ProblemKind::new(
    StatusCode::NOT_FOUND,
    "no-such-path",
    "There is nothing at this path",
);

pub(in crate::http) const METHOD_NOT_ALLOWED: ProblemKind = ProblemKind::new(
    StatusCode::METHOD_NOT_ALLOWED,
    "method-not-allowed",
    "The method does not fit the path",
);

pub(in crate::http) const UNSUPPORTED_MEDIA_TYPE: ProblemKind = ProblemKind::new(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "unsupported-media-type",
    "The body has an unsupported media type",
);

pub(in crate::http) const BODY_TOO_LARGE: ProblemKind = ProblemKind::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "body-too-large",
    "The body is too large",
);

pub(in crate::http) const BODY_TOO_SLOW: ProblemKind = ProblemKind::new(
    StatusCode::REQUEST_TIMEOUT,
    "body-too-slow",
    "The body did not come in time",
);

pub(in crate::http) const MALFORMED_BODY: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "malformed-body",
    "The body is malformed",
);

pub(in crate::http) const INVALID_HEADER: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "invalid-header",
    "A header is not valid",
);

pub(in crate::http) const FOREIGN_HOST: ProblemKind = ProblemKind::new(
    StatusCode::MISDIRECTED_REQUEST,
    "foreign-host",
    "The request names another host",
);

pub(in crate::http) const INVALID_PARAMETER: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "invalid-parameter",
    "A query parameter is not valid",
);

pub(in crate::http) const INVALID_VALUES: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "invalid-values",
    "The values are not valid",
);

pub(in crate::http) const IDEMPOTENCY_KEY_REUSED: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "idempotency-key-reused",
    "The idempotency key belongs to another request",
);

pub(in crate::http) const NOT_FOUND: ProblemKind =
    ProblemKind::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing");

pub(in crate::http) const ALREADY_EXISTS: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "already-exists", "It already exists");

pub(in crate::http) const CHANGED_MEANWHILE: ProblemKind = ProblemKind::new(
    StatusCode::PRECONDITION_FAILED,
    "changed-meanwhile",
    "The subject has changed",
);

pub(in crate::http) const CONTENDED: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "contended", "Others were faster").retry_later();

pub(in crate::http) const OUTCOME_UNKNOWN: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "outcome-unknown",
    "It is unknown whether the command was carried out",
)
.retry_later();

pub(in crate::http) const EVENT_STORE_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "event-store-unavailable",
    "The event store is unavailable",
)
.retry_later();

pub(in crate::http) const EVENT_STORE_FULL: ProblemKind = ProblemKind::new(
    StatusCode::INSUFFICIENT_STORAGE,
    "event-store-full",
    "The event store is full",
);

pub(in crate::http) const NO_SUCH_EVENT: ProblemKind = ProblemKind::new(
    StatusCode::PRECONDITION_FAILED,
    "no-such-event",
    "There is no such event",
);

pub(in crate::http) const POSITION_NOT_REACHED: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "position-not-reached",
    "The answer would be out of date",
)
.retry_later();

pub(in crate::http) const TOO_MANY_LIVE_QUERIES: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "too-many-live-queries",
    "Too many live queries are open",
)
.retry_later();

pub(in crate::http) const ADDRESS_TOO_LONG: ProblemKind = ProblemKind::new(
    StatusCode::URI_TOO_LONG,
    "address-too-long",
    "The address is too long",
);

pub(in crate::http) const HEADERS_TOO_LARGE: ProblemKind = ProblemKind::new(
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "headers-too-large",
    "The headers are too large",
);

pub(in crate::http) const TOO_BUSY: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "too-busy",
    "The service is too busy",
)
.retry_later();

pub(in crate::http) const TOOK_TOO_LONG: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "took-too-long",
    "The request took too long",
)
.retry_later();

pub(in crate::http) const UNAUTHORIZED: ProblemKind = ProblemKind::new(
    StatusCode::UNAUTHORIZED,
    "unauthorized",
    "The caller is not authenticated",
);

pub(in crate::http) const FORBIDDEN: ProblemKind = ProblemKind::new(
    StatusCode::FORBIDDEN,
    "forbidden",
    "The caller may not do this",
);

pub(in crate::http) const NOT_OWNER: ProblemKind = ProblemKind::new(
    StatusCode::FORBIDDEN,
    "not-owner",
    "This does not belong to the caller",
);

pub(in crate::http) const ISSUER_AWAY: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "issuer-away",
    "The caller cannot be checked now",
)
.retry_later();

pub(in crate::http) const TOO_MANY_REQUESTS: ProblemKind = ProblemKind::new(
    StatusCode::TOO_MANY_REQUESTS,
    "too-many-requests",
    "The client exceeded its rate limit",
)
.retry_later();

pub(in crate::http) const SHARE_IN_USE: ProblemKind = ProblemKind::new(
    StatusCode::TOO_MANY_REQUESTS,
    "share-in-use",
    "The caller uses its whole share",
)
.retry_later();

pub(in crate::http) const OPERATORS_ONLY: ProblemKind = ProblemKind::new(
    StatusCode::UNAUTHORIZED,
    "operators-only",
    "Only operators may do this",
);

pub(in crate::http) const READ_MODEL_NOT_STOPPED: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "read-model-not-stopped",
    "The read model has not stopped",
);

pub(in crate::http) const READ_MODEL_REBUILDING: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "read-model-rebuilding",
    "The read model is being rebuilt",
);

pub(in crate::http) const STANDS_BY: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "stands-by",
    "Another process updates the read models",
);

pub(in crate::http) const READ_MODELS_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "read-models-unavailable",
    "The read models do not answer",
)
.retry_later();

pub(in crate::http) const REACTION_NOT_STOPPED: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "reaction-not-stopped",
    "The reaction has not stopped",
);

pub(in crate::http) const REACTIONS_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "reactions-unavailable",
    "The reactions do not answer",
)
.retry_later();

pub(in crate::http) const INTERNAL_ERROR: ProblemKind = ProblemKind::new(
    StatusCode::INTERNAL_SERVER_ERROR,
    "internal-error",
    "The service failed",
);
