//! The errors of queries, with the tokens at fault.

use std::{fmt, time::Duration};

use serde::Serialize;

use super::token::{Token, TokenIndexRange};
use es_store::StoreError;

/// The error for a query that cannot be parsed or executed.
///
/// ```
/// use es_eventql::EventQlQuery;
///
/// let error = EventQlQuery::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// assert_eq!(error.start_token().map(|token| (token.line, token.column)), Some((1, 31)));
/// ```
#[derive(Debug)]
pub struct QueryError {
    kind: QueryErrorKind,
    tokens: Option<Box<(Token, Token)>>,
}

/// The reason of a query error.
///
/// ```
/// use es_eventql::{QueryErrorKind, EventQlQuery};
///
/// let error = EventQlQuery::parse("FROM e IN events WHERE e.id == 'a").unwrap_err();
/// assert!(matches!(error.kind(), QueryErrorKind::UnterminatedString));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryErrorKind {
    /// The query is too long.
    #[error("the query has {length} bytes, at most {limit} are read")]
    TooLong {
        /// The query's length in bytes.
        length: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// The query nests too deeply, has too many FROM clauses, or chains too many operators.
    #[error("the query has more than {limit} {what}")]
    TooComplex {
        /// The kind of element that exceeds its limit.
        what: &'static str,
        /// The maximum number.
        limit: usize,
    },
    /// The query contains a character that is not part of the language.
    #[error("unexpected character {character:?}")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A string has no closing quote.
    #[error("the string is not closed")]
    UnterminatedString,
    /// A comment has no end.
    #[error("the comment is not closed: write `*/` at its end")]
    UnterminatedComment,
    /// A string contains an unknown escape sequence.
    #[error(
        "invalid escape `{escape}`: strings know \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits"
    )]
    InvalidEscape {
        /// The beginning of the escape sequence.
        escape: Box<str>,
    },
    /// A number is malformed or too large.
    #[error(
        "invalid number `{text}`: write a whole number up to {} or a float such as 1.5 or 1e3",
        i64::MAX
    )]
    InvalidNumber {
        /// The number.
        text: Box<str>,
    },
    /// A token does not fit the grammar.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The tokens that the grammar allows here.
        expected: Box<str>,
        /// The token in the query.
        found: Box<str>,
    },
    /// An expression uses an alias that no FROM clause defines.
    #[error("unknown alias `{name}`: this query knows {known}")]
    UnknownAlias {
        /// The alias in the query.
        name: Box<str>,
        /// The aliases that the query defines.
        known: Box<str>,
    },
    /// Two FROM clauses define the same alias.
    #[error("the alias `{name}` is taken: give every FROM clause a name of its own")]
    DuplicateAlias {
        /// The alias in the query.
        name: Box<str>,
    },
    /// The function does not exist.
    #[error("unknown function `{name}`: {hint}")]
    UnknownFunction {
        /// The function name in the query.
        name: Box<str>,
        /// The most similar function name, or the list of all functions.
        hint: Box<str>,
    },
    /// A function call has too few or too many arguments.
    #[error("{function} takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// The number of arguments that the function accepts.
        expected: Box<str>,
        /// The number of arguments in the query.
        found: usize,
    },
    /// An aggregate stands in a clause that is evaluated before grouping.
    #[error("an aggregate cannot stand in {clause}")]
    AggregateNotAllowed {
        /// The clause.
        clause: &'static str,
    },
    /// An aggregate contains another aggregate.
    #[error("an aggregate cannot stand within an aggregate")]
    NestedAggregate,
    /// A field has several values in a group but is neither a key nor aggregated.
    #[error(
        "`{expr}` has a value for each row of a group: put it into GROUP BY or into an aggregate"
    )]
    NotAggregated {
        /// The field in the query.
        expr: Box<str>,
    },
    /// A condition has a value that is not a boolean.
    #[error("{place} needs a boolean, found {found}")]
    NotBoolean {
        /// The clause or operator that needs the condition.
        place: &'static str,
        /// The kind of the value.
        found: &'static str,
    },
    /// A comparison has operands of different kinds, or of a kind that has no order.
    #[error("cannot compare {left} with {right} by `{operator}`: convert one of them with AS")]
    NotComparable {
        /// The kind of the left value.
        left: &'static str,
        /// The kind of the right value.
        right: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// An operator does not accept a value of this kind.
    #[error("`{operator}` needs {expected}, found {found}")]
    WrongOperand {
        /// The operator.
        operator: &'static str,
        /// The values that the operator accepts.
        expected: &'static str,
        /// The kind of the value.
        found: &'static str,
    },
    /// A function does not accept this value.
    #[error("{function} needs {expected}, found {found}")]
    WrongArgument {
        /// The function.
        function: &'static str,
        /// The values that the function accepts.
        expected: &'static str,
        /// The kind of the value or the value itself.
        found: Box<str>,
    },
    /// A conversion has no result.
    #[error("cannot convert {value} into {to}")]
    CannotConvert {
        /// The beginning of the value.
        value: Box<str>,
        /// The target type.
        to: &'static str,
    },
    /// An integer does not fit into 64 bits, or a float is not finite.
    #[error("the result is out of range")]
    OutOfRange,
    /// An expression divides by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// SKIP or TOP has a value that is not a count.
    #[error("{clause} needs a whole number from 0, found {found}")]
    NotACount {
        /// SKIP or TOP.
        clause: &'static str,
        /// The value of the clause.
        found: Box<str>,
    },
    /// UNIQUE met two different values.
    #[error("UNIQUE needs one value in each group, found {first} and {second}")]
    NotUnique {
        /// The first value.
        first: Box<str>,
        /// The second value.
        second: Box<str>,
    },
    /// Event data nests too deeply or contains a number that no float can represent.
    #[error("the data of an event cannot be computed with: {reason}")]
    Data {
        /// The reason for the failure.
        reason: Box<str>,
    },
    /// The query exceeded its time limit.
    #[error("the query was stopped after {} seconds", limit.as_secs_f64())]
    Time {
        /// The time limit.
        limit: Duration,
    },
    /// The query exceeded its memory limit.
    #[error(
        "the query needs more than {limit} bytes of memory: narrow it with WHERE, or compute less in a row"
    )]
    MemoryBudget {
        /// The memory limit in bytes.
        limit: usize,
    },
    /// A row of the result is too long.
    #[error("a row of the result has more than {limit} bytes: project less into it")]
    RowLength {
        /// The maximum length in bytes.
        limit: usize,
    },
    /// The store failed to read the events.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The JSON form in which the protocol sends a query error.
///
/// ```
/// use es_eventql::EventQlQuery;
///
/// let error = EventQlQuery::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// let json = serde_json::to_value(error.payload())?;
/// assert_eq!(json["startToken"]["text"], "f");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryErrorPayload<'a> {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_token: Option<&'a Token>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_token: Option<&'a Token>,
}

impl QueryError {
    pub(super) fn at_token(kind: QueryErrorKind, token: Token) -> Self {
        let tokens = Some(Box::new((token.clone(), token)));
        Self { kind, tokens }
    }

    pub(super) const fn without_position(kind: QueryErrorKind) -> Self {
        Self { kind, tokens: None }
    }

    /// Returns the reason of the error.
    #[must_use]
    pub const fn kind(&self) -> &QueryErrorKind {
        &self.kind
    }

    /// Returns the first token at fault, if the error has a position.
    #[must_use]
    pub fn start_token(&self) -> Option<&Token> {
        self.tokens.as_deref().map(|(first, _)| first)
    }

    /// Returns the last token at fault, if the error has a position.
    #[must_use]
    pub fn end_token(&self) -> Option<&Token> {
        self.tokens.as_deref().map(|(_, last)| last)
    }

    /// Returns the error as
    /// `{"error":"…","startToken":{"line","column","text","type"},"endToken":…}`.
    #[must_use]
    pub fn payload(&self) -> QueryErrorPayload<'_> {
        QueryErrorPayload {
            error: self.kind.to_string(),
            start_token: self.start_token(),
            end_token: self.end_token(),
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match self.start_token() {
            Some(token) => write!(f, " (line {}, column {})", token.line, token.column),
            None => Ok(()),
        }
    }
}

impl std::error::Error for QueryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            QueryErrorKind::Store(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

/// An error whose position is a range of token indexes. The query resolves them into tokens.
#[derive(Debug)]
pub(super) struct SpannedError {
    pub(super) kind: QueryErrorKind,
    pub(super) span: Option<TokenIndexRange>,
}

impl SpannedError {
    pub(super) const fn new(span: TokenIndexRange, kind: QueryErrorKind) -> Self {
        let span = Some(span);
        Self { kind, span }
    }

    /// Creates the error for a query with more than `limit` of something.
    pub(super) const fn too_complex(
        span: TokenIndexRange,
        what: &'static str,
        limit: usize,
    ) -> Self {
        Self::new(span, QueryErrorKind::TooComplex { what, limit })
    }

    pub(super) fn locate(self, tokens: &[Token]) -> QueryError {
        let token = |index: u32| tokens.get(usize::try_from(index).ok()?).cloned();
        let place = |span: TokenIndexRange| Some(Box::new((token(span.first)?, token(span.last)?)));
        QueryError {
            kind: self.kind,
            tokens: self.span.and_then(place),
        }
    }
}

/// Errors without a position, for example an exceeded limit.
impl From<QueryErrorKind> for SpannedError {
    fn from(kind: QueryErrorKind) -> Self {
        Self { kind, span: None }
    }
}

impl From<StoreError> for SpannedError {
    fn from(error: StoreError) -> Self {
        QueryErrorKind::Store(error).into()
    }
}
