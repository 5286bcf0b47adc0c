//! What can be wrong with a query, and with which words of it.

use std::{fmt, time::Duration};

use serde::Serialize;

use super::token::{Span, Token};
use crate::store::StoreError;

/// A query that cannot be read, or that could not be answered.
///
/// ```
/// use es_framework::eventql::Query;
///
/// let error = Query::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// assert_eq!(error.start_token().map(|token| (token.line, token.column)), Some((1, 31)));
/// ```
#[derive(Debug)]
pub struct QueryError {
    kind: ErrorKind,
    tokens: Option<Box<(Token, Token)>>,
}

/// What is wrong.
///
/// ```
/// use es_framework::eventql::{ErrorKind, Query};
///
/// let error = Query::parse("FROM e IN events WHERE e.id == 'a").unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnterminatedString));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The query is longer than any should be.
    #[error("the query has {length} bytes, at most {limit} are read")]
    TooLong {
        /// Its bytes.
        length: usize,
        /// The bytes it may have.
        limit: usize,
    },
    /// Something lies too deep within itself, or is repeated too often.
    #[error("the query has more than {limit} {what}")]
    TooComplex {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// A character that no word of the language has.
    #[error("unexpected character {character:?}")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A text without its closing quote.
    #[error("the string is not closed")]
    UnterminatedString,
    /// A comment without its end.
    #[error("the comment is not closed: write `*/` at its end")]
    UnterminatedComment,
    /// An escape that strings do not have.
    #[error(
        "invalid escape `{escape}`: strings know \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits"
    )]
    InvalidEscape {
        /// How it begins.
        escape: Box<str>,
    },
    /// A number that is malformed or too large.
    #[error(
        "invalid number `{text}`: write a whole number up to {} or a float such as 1.5 or 1e3",
        i64::MAX
    )]
    InvalidNumber {
        /// The number.
        text: Box<str>,
    },
    /// A word that does not belong there.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would belong there.
        expected: Box<str>,
        /// The word.
        found: Box<str>,
    },
    /// A name that no FROM clause introduces.
    #[error("unknown alias `{name}`: this query knows {known}")]
    UnknownAlias {
        /// The name.
        name: Box<str>,
        /// The names there are.
        known: Box<str>,
    },
    /// Two FROM clauses of the same name.
    #[error("the alias `{name}` is taken: give every FROM clause a name of its own")]
    DuplicateAlias {
        /// The name.
        name: Box<str>,
    },
    /// A function that does not exist.
    #[error("unknown function `{name}`: {hint}")]
    UnknownFunction {
        /// Its name.
        name: Box<str>,
        /// The function that may be meant, or all there are.
        hint: Box<str>,
    },
    /// A function with too few or too many arguments.
    #[error("{function} takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// How many it takes.
        expected: Box<str>,
        /// How many there are.
        found: usize,
    },
    /// An aggregate where there are no groups yet.
    #[error("an aggregate cannot stand in {clause}")]
    AggregateNotAllowed {
        /// Where it stands.
        clause: &'static str,
    },
    /// An aggregate of an aggregate.
    #[error("an aggregate cannot stand within an aggregate")]
    NestedAggregate,
    /// A field with many values where there is one row for all of them.
    #[error(
        "`{expr}` has a value for each row of a group: put it into GROUP BY or into an aggregate"
    )]
    NotAggregated {
        /// The field.
        expr: Box<str>,
    },
    /// A condition that is neither true nor false.
    #[error("{place} needs a boolean, found {found}")]
    NotBoolean {
        /// Where it stands.
        place: &'static str,
        /// What kind of value it is.
        found: &'static str,
    },
    /// A comparison of different kinds of values, or of kinds without an order.
    #[error("cannot compare {left} with {right} by `{operator}`: convert one of them with AS")]
    NotComparable {
        /// The kind of the left value.
        left: &'static str,
        /// The kind of the right value.
        right: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// An operator on a kind of value that it does not take.
    #[error("`{operator}` needs {expected}, found {found}")]
    WrongOperand {
        /// The operator.
        operator: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What kind of value was found.
        found: &'static str,
    },
    /// A function on a kind of value, or a value, that it does not take.
    #[error("{function} needs {expected}, found {found}")]
    WrongArgument {
        /// The function.
        function: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What was found.
        found: Box<str>,
    },
    /// A conversion that has no result.
    #[error("cannot convert {value} into {to}")]
    CannotConvert {
        /// The value, shortened.
        value: Box<str>,
        /// The type.
        to: &'static str,
    },
    /// A whole number that does not fit into 64 bits, or a float that is not finite.
    #[error("the result is out of range")]
    OutOfRange,
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A SKIP or TOP that counts nothing.
    #[error("{clause} needs a whole number from 0, found {found}")]
    NotACount {
        /// SKIP or TOP.
        clause: &'static str,
        /// What was found.
        found: Box<str>,
    },
    /// UNIQUE of several values.
    #[error("UNIQUE needs one value in each group, found {first} and {second}")]
    NotUnique {
        /// A value.
        first: Box<str>,
        /// Another one.
        second: Box<str>,
    },
    /// Data that is nested too deep or has a number that no float can hold.
    #[error("the data of an event cannot be computed with: {reason}")]
    Data {
        /// Why.
        reason: Box<str>,
    },
    /// The query took too long.
    #[error("the query was stopped after {} seconds", limit.as_secs_f64())]
    Time {
        /// How long it may take.
        limit: Duration,
    },
    /// The query holds too many rows.
    #[error("the query needs more than {limit} bytes of memory: narrow it with WHERE")]
    Memory {
        /// How many bytes it may hold.
        limit: usize,
    },
    /// The events could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An error as the protocol sends it.
///
/// ```
/// use es_framework::eventql::Query;
///
/// let error = Query::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// let json = serde_json::to_value(error.payload())?;
/// assert_eq!(json["startToken"]["text"], "f");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorPayload<'a> {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_token: Option<&'a Token>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_token: Option<&'a Token>,
}

impl QueryError {
    pub(super) fn at(kind: ErrorKind, token: Token) -> Self {
        let tokens = Some(Box::new((token.clone(), token)));
        Self { kind, tokens }
    }

    pub(super) const fn nowhere(kind: ErrorKind) -> Self {
        Self { kind, tokens: None }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The first word of the part that is wrong, where it is a part.
    #[must_use]
    pub fn start_token(&self) -> Option<&Token> {
        self.tokens.as_deref().map(|(first, _)| first)
    }

    /// The last word of the part that is wrong, where it is a part.
    #[must_use]
    pub fn end_token(&self) -> Option<&Token> {
        self.tokens.as_deref().map(|(_, last)| last)
    }

    /// `{"error":"…","startToken":{"line","column","text","type"},"endToken":…}`.
    #[must_use]
    pub fn payload(&self) -> ErrorPayload<'_> {
        ErrorPayload {
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
            ErrorKind::Store(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

/// An error that knows its place by number; the query knows the words.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) span: Option<Span>,
}

impl Fault {
    pub(super) const fn at(span: Span, kind: ErrorKind) -> Self {
        let span = Some(span);
        Self { kind, span }
    }

    pub(super) fn locate(self, tokens: &[Token]) -> QueryError {
        let token = |index: u32| tokens.get(usize::try_from(index).ok()?).cloned();
        let place = |span: Span| Some(Box::new((token(span.first)?, token(span.last)?)));
        QueryError {
            kind: self.kind,
            tokens: self.span.and_then(place),
        }
    }
}

/// What has no place of its own, such as a limit.
impl From<ErrorKind> for Fault {
    fn from(kind: ErrorKind) -> Self {
        Self { kind, span: None }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        ErrorKind::Store(error).into()
    }
}
