//! Reads the words of a query into a tree, top down.

mod clause;
mod expression;

use super::{
    ast::Statement,
    error::{ErrorKind, Fault},
    limits::MAX_NESTING,
    token::{Span, Token, TokenKind},
};

/// The tree of a whole query; `tokens` end with one of kind [`TokenKind::End`].
pub(super) fn parse(tokens: &[Token]) -> Result<Statement, Fault> {
    let mut parser = Parser {
        tokens,
        next: 0,
        nesting: 0,
        subqueries: 0,
    };
    let statement = parser.statement()?;
    match parser.peek() {
        Some(token) if token.kind != TokenKind::End => {
            Err(parser.unexpected("the end of the query: the projection comes last"))
        }
        _ => Ok(statement),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    nesting: u16,
    subqueries: u16,
}

type Parsed<T> = Result<T, Fault>;

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn advance(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// The place of the word that comes next.
    fn here(&self) -> Span {
        let index = u32::try_from(self.next).unwrap_or(u32::MAX);
        Span {
            first: index,
            last: index,
        }
    }

    /// From `start` to the word that was read last.
    fn since(&self, start: Span) -> Span {
        let last = self.here().first.saturating_sub(1);
        Span {
            first: start.first,
            last: last.max(start.first),
        }
    }

    fn unexpected(&self, expected: impl Into<Box<str>>) -> Fault {
        let expected = expected.into();
        let found = match self.peek() {
            Some(token) => token.to_string().into(),
            None => "the end of the query".into(),
        };
        Fault::at(self.here(), ErrorKind::Unexpected { expected, found })
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

    fn keyword(&mut self, keyword: &str) -> Parsed<()> {
        if self.take_keyword(keyword) {
            return Ok(());
        }
        Err(self.unexpected(keyword))
    }

    fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.take_symbol(symbol) {
            return Ok(());
        }
        Err(self.unexpected(format!("`{symbol}`")))
    }

    /// A name that is no reserved word.
    fn identifier(&mut self, expected: &str) -> Parsed<&'a Token> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Identifier => {
                self.advance();
                Ok(token)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Runs `inner` one level deeper: no input may nest deeper than the stack does.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let (what, limit) = ("levels of nesting", MAX_NESTING.into());
            return Err(Fault::at(
                self.here(),
                ErrorKind::TooComplex { what, limit },
            ));
        }
        self.nesting = self.nesting.saturating_add(1);
        let result = inner(self);
        self.nesting = self.nesting.saturating_sub(1);
        result
    }

    /// One or more, with commas between them.
    fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// None or more up to `close`; a comma after the last one is let pass.
    fn enclosed<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
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
