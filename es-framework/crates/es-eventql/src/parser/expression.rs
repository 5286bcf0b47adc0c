//! Parses expressions by precedence climbing.

use super::{ParseResult, Parser};
use crate::{
    ast::{BinaryOperator, CastType, Expr, ExprKind, Literal, UnaryOperator, precedence::LOWEST},
    function::Callable,
    lexer::{NumberLiteral, parse_number, unescape},
    query_error::SpannedError,
    query_limits::MAX_DEPTH,
    token::{Token, TokenIndexRange, TokenKind},
};

impl<'a> Parser<'a> {
    pub(super) fn parse_expression(&mut self) -> ParseResult<Expr> {
        self.parse_nested(|parser| parser.parse_operators(LOWEST))
    }

    /// Parses an operand and all following operators that bind at least as tightly as `least`. AS
    /// binds tighter than all other operators.
    fn parse_operators(&mut self, least: u8) -> ParseResult<Expr> {
        let mut left = match self.peek_prefix_operator() {
            Some(operator) => self.parse_unary(operator, least)?,
            None => self.parse_postfix()?,
        };
        loop {
            if self.take_keyword("AS") {
                let to = self.parse_cast_type()?;
                let span = self.since(left.span);
                left = self.checked_expression(ExprKind::Cast(Box::new(left), to), span)?;
                continue;
            }
            let Some(operator) = self
                .peek_binary_operator()
                .filter(|it| it.precedence() >= least)
            else {
                return Ok(left);
            };
            self.advance();
            let tighter = operator.precedence().saturating_add(1);
            let right = self.parse_nested(|parser| parser.parse_operators(tighter))?;
            let span = left.span.joined_with(right.span);
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = self.checked_expression(kind, span)?;
        }
    }

    fn checked_expression(&self, kind: ExprKind, span: TokenIndexRange) -> ParseResult<Expr> {
        let expr = Expr::new(kind, span);
        if expr.depth > MAX_DEPTH {
            let (what, limit) = ("operators in a chain", MAX_DEPTH.into());
            return Err(SpannedError::too_complex(span, what, limit));
        }
        Ok(expr)
    }

    fn peek_prefix_operator(&self) -> Option<UnaryOperator> {
        let token = self.peek()?;
        if token.is_keyword("NOT") {
            return Some(UnaryOperator::Not);
        }
        [UnaryOperator::Plus, UnaryOperator::Minus]
            .into_iter()
            .find(|operator| token.is_symbol(operator.symbol()))
    }

    fn parse_unary(&mut self, operator: UnaryOperator, least: u8) -> ParseResult<Expr> {
        if operator.precedence() < least {
            return Err(self.unexpected("a value: put NOT and what follows it into parentheses"));
        }
        let start = self.here();
        self.advance();
        let operand = self.parse_nested(|parser| parser.parse_operators(operator.precedence()))?;
        let span = self.since(start);
        self.checked_expression(ExprKind::Unary(operator, Box::new(operand)), span)
    }

    fn peek_binary_operator(&self) -> Option<BinaryOperator> {
        let token = self.peek()?;
        BinaryOperator::ALL.into_iter().find(|operator| {
            token.is_symbol(operator.symbol()) || token.is_keyword(operator.symbol())
        })
    }

    fn parse_cast_type(&mut self) -> ParseResult<CastType> {
        let named = |token: &Token| {
            CastType::ALL
                .into_iter()
                .find(|to| token.text.eq_ignore_ascii_case(to.name()))
        };
        match self.peek().and_then(named) {
            Some(to) => {
                self.advance();
                Ok(to)
            }
            None => Err(self.unexpected("INT, FLOAT, STRING, BOOL, DATE, TIME or DATETIME")),
        }
    }

    fn parse_postfix(&mut self) -> ParseResult<Expr> {
        let start = self.here();
        let mut expr = self.parse_primary()?;
        loop {
            let kind = if self.take_symbol(".") {
                ExprKind::Field(Box::new(expr), self.parse_field_name()?)
            } else if self.take_symbol("[") {
                let index = self.parse_expression()?;
                self.expect_symbol("]")?;
                match index.kind {
                    ExprKind::Literal(Literal::Text(name)) => {
                        ExprKind::Field(Box::new(expr), (&*name).into())
                    }
                    _ => ExprKind::Index(Box::new(expr), Box::new(index)),
                }
            } else {
                return Ok(expr);
            };
            expr = self.checked_expression(kind, self.since(start))?;
        }
    }

    /// After a dot, every word is a field name: data can contain a field `order` or `from`.
    fn parse_field_name(&mut self) -> ParseResult<Box<str>> {
        match self.peek() {
            Some(token) if matches!(token.kind, TokenKind::Identifier | TokenKind::Keyword) => {
                self.advance();
                Ok(token.text.clone())
            }
            _ => Err(self.unexpected("a field name")),
        }
    }

    fn parse_primary(&mut self) -> ParseResult<Expr> {
        let start = self.here();
        let token = self
            .peek()
            .ok_or_else(|| self.unexpected("an expression"))?;
        let kind = match token.kind {
            TokenKind::Identifier => return self.parse_name(token, start),
            TokenKind::Symbol if token.is_symbol("(") => {
                self.advance();
                let inner = self.parse_expression()?;
                self.expect_symbol(")")?;
                return Ok(inner);
            }
            TokenKind::Symbol if token.is_symbol("[") => {
                self.advance();
                ExprKind::Array(self.parse_enclosed("]", Self::parse_expression)?)
            }
            TokenKind::Symbol if token.is_symbol("{") => {
                self.advance();
                ExprKind::Record(self.parse_enclosed("}", Self::parse_member)?)
            }
            _ => ExprKind::Literal(self.parse_literal(token)?),
        };
        self.checked_expression(kind, self.since(start))
    }

    fn parse_literal(&mut self, token: &Token) -> ParseResult<Literal> {
        let literal = match token.kind {
            TokenKind::Number => match parse_number(&token.text) {
                Some(NumberLiteral::Int(value)) => Some(Literal::Int(value)),
                Some(NumberLiteral::Float(value)) => Some(Literal::Float(value)),
                None => None,
            },
            TokenKind::String => {
                let text = unescape(&token.text).ok();
                text.map(|text| Literal::Text(text.into()))
            }
            TokenKind::Keyword if token.is_keyword("NULL") => Some(Literal::Null),
            TokenKind::Keyword if token.is_keyword("TRUE") => Some(Literal::Bool(true)),
            TokenKind::Keyword if token.is_keyword("FALSE") => Some(Literal::Bool(false)),
            _ => None,
        };
        let literal = literal.ok_or_else(|| self.unexpected("an expression"))?;
        self.advance();
        Ok(literal)
    }

    /// Parses an alias or a function call.
    fn parse_name(&mut self, token: &'a Token, start: TokenIndexRange) -> ParseResult<Expr> {
        self.advance();
        if !self.take_symbol("(") {
            return self.checked_expression(ExprKind::Alias(token.text.clone()), start);
        }
        let callable =
            Callable::from_name(&token.text).map_err(|kind| SpannedError::new(start, kind))?;
        let arguments = self.parse_enclosed(")", Self::parse_expression)?;
        let span = self.since(start);
        let kind = callable
            .with_arguments(arguments)
            .map_err(|kind| SpannedError::new(span, kind))?;
        self.checked_expression(kind, span)
    }

    fn parse_member(&mut self) -> ParseResult<(Box<str>, Expr)> {
        let name = match self.peek() {
            Some(token) if token.kind == TokenKind::String => {
                let name = unescape(&token.text).unwrap_or_default().into();
                self.advance();
                name
            }
            _ => self.parse_field_name()?,
        };
        self.expect_symbol(":")?;
        Ok((name, self.parse_expression()?))
    }
}
