//! The tokens of a query and their positions.

use std::fmt;

use serde::Serialize;

/// A token of a query. Errors contain it as `{"line","column","text","type"}`.
///
/// ```
/// use es_eventql::{EventQlQuery, TokenKind};
///
/// let error = EventQlQuery::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// let token = error.start_token().ok_or("a word is wrong")?;
/// assert_eq!((&*token.text, token.kind), ("f", TokenKind::Identifier));
/// # Ok::<_, &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The line of the first character, counted from 1.
    pub line: u32,
    /// The column of the first character, counted from 1.
    pub column: u32,
    /// The text of the token. It is empty at the end of the query.
    pub text: Box<str>,
    /// The kind of the token.
    #[serde(rename = "type")]
    pub kind: TokenKind,
}

/// The kind of a token.
///
/// ```
/// use es_eventql::TokenKind;
///
/// assert_eq!(serde_json::to_string(&TokenKind::Keyword)?, r#""keyword""#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// A keyword such as `FROM`, in upper or lower case.
    Keyword,
    /// A name.
    Identifier,
    /// A number.
    Number,
    /// A string in single or double quotes.
    String,
    /// An operator, a bracket or a comma.
    Symbol,
    /// The end of the query.
    End,
    /// Text that is not a token of the language.
    Invalid,
}

/// The keywords. They cannot be aliases, but they can be field names after a dot or in a record.
const KEYWORDS: [&str; 23] = [
    "FROM", "IN", "WHERE", "ORDER", "BY", "ASC", "DESC", "GROUP", "HAVING", "SKIP", "TOP",
    "PROJECT", "INTO", "DISTINCT", "AND", "OR", "XOR", "NOT", "CONTAINS", "AS", "TRUE", "FALSE",
    "NULL",
];

impl TokenKind {
    /// Returns the kind of a word that consists of letters, digits and `_`.
    pub(super) fn from_word(word: &str) -> Self {
        if KEYWORDS
            .iter()
            .any(|keyword| keyword.eq_ignore_ascii_case(word))
        {
            Self::Keyword
        } else {
            Self::Identifier
        }
    }
}

impl Token {
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text.eq_ignore_ascii_case(keyword)
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && &*self.text == symbol
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == TokenKind::End {
            return f.write_str("the end of the query");
        }
        let mut characters = self.text.chars();
        let head: String = characters.by_ref().take(40).collect();
        let rest = if characters.next().is_some() {
            "…"
        } else {
            ""
        };
        write!(f, "`{head}{rest}`")
    }
}

/// A range of tokens, by their indexes in the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenIndexRange {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl TokenIndexRange {
    pub(super) fn joined_with(self, other: Self) -> Self {
        Self {
            first: self.first,
            last: other.last,
        }
    }

    /// Returns true if both have the same first and last token. `==` is true for any two ranges.
    pub(super) fn has_same_bounds(self, other: Self) -> bool {
        self.first == other.first && self.last == other.last
    }
}

/// All ranges compare as equal, so that equal expressions at different positions are equal.
impl PartialEq for TokenIndexRange {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
