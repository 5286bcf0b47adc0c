//! The kinds of problems that the framework returns, with their constant parts.

use axum::http::StatusCode;
use es_command::command::{RejectionDescriptor, RejectionKind};

/// The prefix of a problem's name in its `type`: a `tag` URI, as RFC 9457 advises for types that
/// cannot be looked up.
const TYPE_PREFIX: &str = "tag:es-framework,2026:problem:";

/// The constant parts of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProblemKind {
    pub(crate) status: StatusCode,
    /// The last segment of the problem's `type`.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// True if the same request may succeed a little later.
    pub(crate) retry: bool,
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
    pub(crate) fn uri(&self) -> String {
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

pub(crate) const NO_SUCH_PATH: ProblemKind = ProblemKind::new(
    StatusCode::NOT_FOUND,
    "no-such-path",
    "There is nothing at this path",
);

pub(crate) const METHOD_NOT_ALLOWED: ProblemKind = ProblemKind::new(
    StatusCode::METHOD_NOT_ALLOWED,
    "method-not-allowed",
    "The method does not fit the path",
);

pub(crate) const UNSUPPORTED_MEDIA_TYPE: ProblemKind = ProblemKind::new(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "unsupported-media-type",
    "The body has an unsupported media type",
);

pub(crate) const BODY_TOO_LARGE: ProblemKind = ProblemKind::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "body-too-large",
    "The body is too large",
);

pub(crate) const NOT_EXECUTED: ProblemKind = ProblemKind::new(
    StatusCode::FAILED_DEPENDENCY,
    "not-executed",
    "An earlier command of the request was refused",
);

pub(crate) const INVALID_OCCURRED_AT: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "invalid-occurred-at",
    "The time at which it happened is not valid",
);

pub(crate) const BODY_TOO_SLOW: ProblemKind = ProblemKind::new(
    StatusCode::REQUEST_TIMEOUT,
    "body-too-slow",
    "The body did not come in time",
);

pub(crate) const MALFORMED_BODY: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "malformed-body",
    "The body is malformed",
);

pub(crate) const INVALID_HEADER: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "invalid-header",
    "A header is not valid",
);

pub(crate) const FOREIGN_HOST: ProblemKind = ProblemKind::new(
    StatusCode::MISDIRECTED_REQUEST,
    "foreign-host",
    "The request names another host",
);

pub(crate) const INVALID_PARAMETER: ProblemKind = ProblemKind::new(
    StatusCode::BAD_REQUEST,
    "invalid-parameter",
    "A query parameter is not valid",
);

pub(crate) const INVALID_VALUES: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "invalid-values",
    "The values are not valid",
);

pub(crate) const IDEMPOTENCY_KEY_REUSED: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "idempotency-key-reused",
    "The idempotency key belongs to another request",
);

pub(crate) const NOT_FOUND: ProblemKind =
    ProblemKind::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing");

pub(crate) const ALREADY_EXISTS: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "already-exists", "It already exists");

pub(crate) const CHANGED_MEANWHILE: ProblemKind = ProblemKind::new(
    StatusCode::PRECONDITION_FAILED,
    "changed-meanwhile",
    "The subject has changed",
);

pub(crate) const CONTENDED: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "contended", "Others were faster").retry_later();

pub(crate) const OUTCOME_UNKNOWN: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "outcome-unknown",
    "It is unknown whether the command was carried out",
)
.retry_later();

pub(crate) const EVENT_STORE_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "event-store-unavailable",
    "The event store is unavailable",
)
.retry_later();

pub(crate) const EVENT_STORE_FULL: ProblemKind = ProblemKind::new(
    StatusCode::INSUFFICIENT_STORAGE,
    "event-store-full",
    "The event store is full",
);

pub(crate) const NO_SUCH_EVENT: ProblemKind = ProblemKind::new(
    StatusCode::PRECONDITION_FAILED,
    "no-such-event",
    "There is no such event",
);

pub(crate) const POSITION_NOT_REACHED: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "position-not-reached",
    "The answer would be out of date",
)
.retry_later();

pub(crate) const TOO_MANY_LIVE_QUERIES: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "too-many-live-queries",
    "Too many live queries are open",
)
.retry_later();

pub(crate) const ADDRESS_TOO_LONG: ProblemKind = ProblemKind::new(
    StatusCode::URI_TOO_LONG,
    "address-too-long",
    "The address is too long",
);

pub(crate) const HEADERS_TOO_LARGE: ProblemKind = ProblemKind::new(
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "headers-too-large",
    "The headers are too large",
);

pub(crate) const TOO_BUSY: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "too-busy",
    "The service is too busy",
)
.retry_later();

pub(crate) const SUM_TOO_LARGE: ProblemKind = ProblemKind::new(
    StatusCode::UNPROCESSABLE_ENTITY,
    "sum-too-large",
    "A sum exceeds the range of its type",
);

pub(crate) const TOOK_TOO_LONG: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "took-too-long",
    "The request took too long",
)
.retry_later();

pub(crate) const UNAUTHORIZED: ProblemKind = ProblemKind::new(
    StatusCode::UNAUTHORIZED,
    "unauthorized",
    "The caller is not authenticated",
);

pub(crate) const FORBIDDEN: ProblemKind = ProblemKind::new(
    StatusCode::FORBIDDEN,
    "forbidden",
    "The caller may not do this",
);

pub(crate) const NOT_OWNER: ProblemKind = ProblemKind::new(
    StatusCode::FORBIDDEN,
    "not-owner",
    "This does not belong to the caller",
);

pub(crate) const NOT_VISIBLE: ProblemKind = ProblemKind::new(
    StatusCode::FORBIDDEN,
    "not-visible",
    "This is not visible to the caller",
);

pub(crate) const KEY_STORE_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "key-store-unavailable",
    "The key store does not work",
)
.retry_later();

pub(crate) const ERASED_PERSON: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "erased-person",
    "The personal data of this person is erased",
);

pub(crate) const NOT_UNIQUE: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "not-unique", "The value is taken");

pub(crate) const ISSUER_AWAY: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "issuer-away",
    "The caller cannot be checked now",
)
.retry_later();

pub(crate) const TOO_MANY_REQUESTS: ProblemKind = ProblemKind::new(
    StatusCode::TOO_MANY_REQUESTS,
    "too-many-requests",
    "The client exceeded its rate limit",
)
.retry_later();

pub(crate) const SHARE_IN_USE: ProblemKind = ProblemKind::new(
    StatusCode::TOO_MANY_REQUESTS,
    "share-in-use",
    "The caller uses its whole share",
)
.retry_later();

pub(crate) const OPERATORS_ONLY: ProblemKind = ProblemKind::new(
    StatusCode::UNAUTHORIZED,
    "operators-only",
    "Only operators may do this",
);

pub(crate) const READ_MODEL_NOT_STOPPED: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "read-model-not-stopped",
    "The read model has not stopped",
);

pub(crate) const READ_MODEL_REBUILDING: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "read-model-rebuilding",
    "The read model is being rebuilt",
);

pub(crate) const STANDS_BY: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "stands-by",
    "Another process does this work",
);

pub(crate) const READ_MODELS_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "read-models-unavailable",
    "The read models do not answer",
)
.retry_later();

pub(crate) const REACTION_NOT_STOPPED: ProblemKind = ProblemKind::new(
    StatusCode::CONFLICT,
    "reaction-not-stopped",
    "The reaction has not stopped",
);

pub(crate) const REACTIONS_UNAVAILABLE: ProblemKind = ProblemKind::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "reactions-unavailable",
    "The reactions do not answer",
)
.retry_later();

pub(crate) const INTERNAL_ERROR: ProblemKind = ProblemKind::new(
    StatusCode::INTERNAL_SERVER_ERROR,
    "internal-error",
    "The service failed",
);
