//! Parses expressions by precedence climbing.

use super::{ParseResult, Parser, callable::Callable};
use crate::{
    ast::{BinaryOperator, CastType, Expr, ExprKind, Literal, UnaryOperator, precedence::LOWEST},
    lexer::{NumberLiteral, number, unescaped},
    query_error::{QueryErrorKind, SpannedError},
    query_limits::MAX_DEPTH,
    token::{Span, Token, TokenKind},
};

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self) -> ParseResult<Expr> {
        self.nested(|parser| parser.operators(LOWEST))
    }

    /// Parses an operand and all following operators that bind at least as tightly as `least`. AS
    /// binds tighter than all other operators.
    fn operators(&mut self, least: u8) -> ParseResult<Expr> {
        let mut left = match self.prefix() {
            Some(operator) => self.unary(operator, least)?,
            None => self.postfix()?,
        };
        loop {
            if self.take_keyword("AS") {
                let to = self.cast_type()?;
                let span = self.since(left.span);
                left = self.grown(ExprKind::Cast(Box::new(left), to), span)?;
                continue;
            }
            let Some(operator) = self.operator().filter(|it| it.precedence() >= least) else {
                return Ok(left);
            };
            self.advance();
            let tighter = operator.precedence().saturating_add(1);
            let right = self.nested(|parser| parser.operators(tighter))?;
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = self.grown(kind, span)?;
        }
    }

    fn grown(&self, kind: ExprKind, span: Span) -> ParseResult<Expr> {
        let expr = Expr::new(kind, span);
        if expr.depth > MAX_DEPTH {
            let (what, limit) = ("operators in a chain", MAX_DEPTH.into());
            return Err(SpannedError::at(
                span,
                QueryErrorKind::TooComplex { what, limit },
            ));
        }
        Ok(expr)
    }

    fn prefix(&self) -> Option<UnaryOperator> {
        let token = self.peek()?;
        if token.is_keyword("NOT") {
            return Some(UnaryOperator::Not);
        }
        [UnaryOperator::Plus, UnaryOperator::Minus]
            .into_iter()
            .find(|operator| token.is_symbol(operator.symbol()))
    }

    fn unary(&mut self, operator: UnaryOperator, least: u8) -> ParseResult<Expr> {
        if operator.precedence() < least {
            return Err(self.unexpected("a value: put NOT and what follows it into parentheses"));
        }
        let start = self.here();
        self.advance();
        let operand = self.nested(|parser| parser.operators(operator.precedence()))?;
        let span = self.since(start);
        self.grown(ExprKind::Unary(operator, Box::new(operand)), span)
    }

    fn operator(&self) -> Option<BinaryOperator> {
        let token = self.peek()?;
        BinaryOperator::ALL.into_iter().find(|operator| {
            token.is_symbol(operator.symbol()) || token.is_keyword(operator.symbol())
        })
    }

    fn cast_type(&mut self) -> ParseResult<CastType> {
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

    fn postfix(&mut self) -> ParseResult<Expr> {
        let start = self.here();
        let mut expr = self.primary()?;
        loop {
            let kind = if self.take_symbol(".") {
                ExprKind::Field(Box::new(expr), self.field_name()?)
            } else if self.take_symbol("[") {
                let index = self.expression()?;
                self.symbol("]")?;
                match index.kind {
                    ExprKind::Literal(Literal::Text(name)) => {
                        ExprKind::Field(Box::new(expr), (&*name).into())
                    }
                    _ => ExprKind::Index(Box::new(expr), Box::new(index)),
                }
            } else {
                return Ok(expr);
            };
            expr = self.grown(kind, self.since(start))?;
        }
    }

    /// After a dot, every word is a field name: data can contain a field `order` or `from`.
    fn field_name(&mut self) -> ParseResult<Box<str>> {
        match self.peek() {
            Some(token) if matches!(token.kind, TokenKind::Identifier | TokenKind::Keyword) => {
                self.advance();
                Ok(token.text.clone())
            }
            _ => Err(self.unexpected("a field name")),
        }
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        let start = self.here();
        let token = self
            .peek()
            .ok_or_else(|| self.unexpected("an expression"))?;
        let kind = match token.kind {
            TokenKind::Identifier => return self.name(token, start),
            TokenKind::Symbol if token.is_symbol("(") => {
                self.advance();
                let inner = self.expression()?;
                self.symbol(")")?;
                return Ok(inner);
            }
            TokenKind::Symbol if token.is_symbol("[") => {
                self.advance();
                ExprKind::Array(self.enclosed("]", Self::expression)?)
            }
            TokenKind::Symbol if token.is_symbol("{") => {
                self.advance();
                ExprKind::Record(self.enclosed("}", Self::member)?)
            }
            _ => ExprKind::Literal(self.literal(token)?),
        };
        self.grown(kind, self.since(start))
    }

    fn literal(&mut self, token: &Token) -> ParseResult<Literal> {
        let literal = match token.kind {
            TokenKind::Number => match number(&token.text) {
                Some(NumberLiteral::Int(value)) => Some(Literal::Int(value)),
                Some(NumberLiteral::Float(value)) => Some(Literal::Float(value)),
                None => None,
            },
            TokenKind::String => {
                let text = unescaped(&token.text).ok();
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
    fn name(&mut self, token: &'a Token, start: Span) -> ParseResult<Expr> {
        self.advance();
        if !self.take_symbol("(") {
            return self.grown(ExprKind::Alias(token.text.clone()), start);
        }
        let callable =
            Callable::named(&token.text).map_err(|kind| SpannedError::at(start, kind))?;
        let arguments = self.enclosed(")", Self::expression)?;
        let span = self.since(start);
        let kind = callable
            .call(arguments)
            .map_err(|kind| SpannedError::at(span, kind))?;
        self.grown(kind, span)
    }

    fn member(&mut self) -> ParseResult<(Box<str>, Expr)> {
        let name = match self.peek() {
            Some(token) if token.kind == TokenKind::String => {
                let name = unescaped(&token.text).unwrap_or_default().into();
                self.advance();
                name
            }
            _ => self.field_name()?,
        };
        self.symbol(":")?;
        Ok((name, self.expression()?))
    }
}
