//! The words of a query and where they stand.

use std::fmt;

use serde::Serialize;

/// A word of a query, as errors show it: `{"line","column","text","type"}`.
///
/// ```
/// use es_framework::eventql::{Query, TokenKind};
///
/// let error = Query::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// let token = error.start_token().ok_or("a word is wrong")?;
/// assert_eq!((&*token.text, token.kind), ("f", TokenKind::Identifier));
/// # Ok::<_, &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The line that it begins in, from 1.
    pub line: u32,
    /// The character of the line that it begins at, from 1.
    pub column: u32,
    /// The word as it was written; empty at the end of the query.
    pub text: Box<str>,
    /// What kind of word it is.
    #[serde(rename = "type")]
    pub kind: TokenKind,
}

/// What kind of word a token is.
///
/// ```
/// use es_framework::eventql::TokenKind;
///
/// assert_eq!(serde_json::to_string(&TokenKind::Keyword)?, r#""keyword""#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// A reserved word such as `FROM`, in any case.
    Keyword,
    /// A name.
    Identifier,
    /// A number.
    Number,
    /// A text in single or double quotes.
    String,
    /// An operator, a bracket or a comma.
    Symbol,
    /// The end of the query.
    End,
    /// Something that is no word of the language.
    Invalid,
}

/// Reserved words: they name no alias, but may name a field after a dot or in a record.
const KEYWORDS: [&str; 23] = [
    "FROM", "IN", "WHERE", "ORDER", "BY", "ASC", "DESC", "GROUP", "HAVING", "SKIP", "TOP",
    "PROJECT", "INTO", "DISTINCT", "AND", "OR", "XOR", "NOT", "CONTAINS", "AS", "TRUE", "FALSE",
    "NULL",
];

impl TokenKind {
    /// The kind of a word made of letters, digits and `_`.
    pub(super) fn of_word(word: &str) -> Self {
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

/// The tokens from the first to the last of a part of a query, by their place in the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Span {
    pub(super) fn to(self, other: Self) -> Self {
        Self {
            first: self.first,
            last: other.last,
        }
    }

    /// Whether both are the same place.
    pub(super) fn is(self, other: Self) -> bool {
        self.first == other.first && self.last == other.last
    }
}

/// Two parts of a query that say the same are equal wherever they stand.
impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
