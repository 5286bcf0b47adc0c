//! Parses the tokens of a query into a syntax tree by recursive descent.

mod callable;
mod clause;
mod expression;

use super::{
    ast::Statement,
    query_error::{QueryErrorKind, SpannedError},
    query_limits::MAX_NESTING,
    token::{Token, TokenIndexRange, TokenKind},
};

/// Parses a whole query. The last token has the kind [`TokenKind::End`].
pub(super) fn parse_query(tokens: &[Token]) -> Result<Statement, SpannedError> {
    let mut parser = Parser {
        tokens,
        next: 0,
        nesting: 0,
        subqueries: 0,
    };
    let statement = parser.parse_statement()?;
    match parser.peek() {
        Some(token) if token.kind != TokenKind::End => {
            Err(parser.unexpected("the end of the query: the projection comes last"))
        }
        _ => Ok(statement),
    }
}

/// The position in the tokens, and the current depth of nesting.
struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    nesting: u16,
    subqueries: u16,
}

type ParseResult<T> = Result<T, SpannedError>;

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn advance(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Returns the position of the next token.
    fn here(&self) -> TokenIndexRange {
        let index = u32::try_from(self.next).unwrap_or(u32::MAX);
        TokenIndexRange {
            first: index,
            last: index,
        }
    }

    /// Returns the span from `start` to the last consumed token.
    fn since(&self, start: TokenIndexRange) -> TokenIndexRange {
        let last = self.here().first.saturating_sub(1);
        TokenIndexRange {
            first: start.first,
            last: last.max(start.first),
        }
    }

    fn unexpected(&self, expected: impl Into<Box<str>>) -> SpannedError {
        let expected = expected.into();
        let found = match self.peek() {
            Some(token) => token.to_string().into(),
            None => "the end of the query".into(),
        };
        SpannedError::new(self.here(), QueryErrorKind::Unexpected { expected, found })
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        self.peek().is_some_and(|token| token.is_keyword(keyword))
    }

    fn at_symbol(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|token| token.is_symbol(symbol))
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect_keyword(&mut self, keyword: &str) -> ParseResult<()> {
        if self.take_keyword(keyword) {
            return Ok(());
        }
        Err(self.unexpected(keyword))
    }

    fn expect_symbol(&mut self, symbol: &str) -> ParseResult<()> {
        if self.take_symbol(symbol) {
            return Ok(());
        }
        Err(self.unexpected(format!("`{symbol}`")))
    }

    /// Parses a name that is not a keyword.
    fn expect_identifier(&mut self, expected: &str) -> ParseResult<&'a Token> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Identifier => {
                self.advance();
                Ok(token)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Runs `inner` one level deeper and limits the nesting, which protects the stack.
    fn parse_nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.nesting >= MAX_NESTING {
            let (what, limit) = ("levels of nesting", MAX_NESTING.into());
            return Err(SpannedError::too_complex(self.here(), what, limit));
        }
        self.nesting = self.nesting.saturating_add(1);
        let result = inner(self);
        self.nesting = self.nesting.saturating_sub(1);
        result
    }

    /// Parses one or more items that are separated by commas.
    fn parse_separated<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses any number of items up to `close`. Allows a trailing comma.
    fn parse_enclosed<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        while !self.take_symbol(close) {
            items.push(item(self)?);
            if !self.take_symbol(",") && !self.at_symbol(close) {
                return Err(self.unexpected(format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }
}
