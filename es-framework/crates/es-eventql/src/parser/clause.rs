//! Parses the clauses of a query.

use std::sync::Arc;

use super::{ParseResult, Parser};
use crate::{
    ast::{Expr, FromClause, Grouping, OrderKey, RowSource, Statement},
    query_error::{QueryErrorKind, SpannedError},
    query_limits::{MAX_SOURCES, MAX_SUBQUERIES},
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> ParseResult<Statement> {
        let sources = self.sources()?;
        let condition = self.optional("WHERE")?;
        let (mut order, mut grouping) = (Vec::new(), None);
        // Queries in practice use both orders of ORDER BY and GROUP BY, so the parser accepts both.
        loop {
            if order.is_empty() && self.take_keyword("ORDER") {
                self.keyword("BY")?;
                order = self.separated(Self::order_key)?;
            } else if grouping.is_none() && self.take_keyword("GROUP") {
                grouping = Some(self.grouping()?);
            } else {
                break;
            }
        }
        let (mut skip, mut top) = (None, None);
        loop {
            if skip.is_none() && self.at_keyword("SKIP") {
                skip = self.optional("SKIP")?;
            } else if top.is_none() && self.at_keyword("TOP") {
                top = self.optional("TOP")?;
            } else {
                break;
            }
        }
        if !self.take_keyword("PROJECT") {
            let open = [
                (condition.is_none() && order.is_empty(), "WHERE"),
                (order.is_empty(), "ORDER BY"),
                (grouping.is_none(), "GROUP BY"),
                (skip.is_none(), "SKIP"),
                (top.is_none(), "TOP"),
            ];
            return Err(self.expected_clause(&open));
        }
        self.keyword("INTO")?;
        Ok(Statement {
            sources,
            condition,
            order,
            grouping,
            skip,
            top,
            distinct: self.take_keyword("DISTINCT"),
            projection: self.expression()?,
        })
    }

    /// Creates the error for a token that is neither an operator nor the start of an allowed
    /// clause.
    fn expected_clause(&self, open: &[(bool, &str)]) -> SpannedError {
        let mut expected = String::from("an operator, ");
        for (_, clause) in open.iter().filter(|(is_open, _)| *is_open) {
            expected.push_str(clause);
            expected.push_str(", ");
        }
        expected.push_str("or PROJECT INTO");
        self.unexpected(expected)
    }

    fn optional(&mut self, keyword: &str) -> ParseResult<Option<Expr>> {
        if self.take_keyword(keyword) {
            return self.expression().map(Some);
        }
        Ok(None)
    }

    fn sources(&mut self) -> ParseResult<Vec<FromClause>> {
        let mut sources = vec![self.source()?];
        while self.at_keyword("FROM") {
            if sources.len() >= MAX_SOURCES {
                let (what, limit) = ("FROM clauses", MAX_SOURCES);
                return Err(SpannedError::at(
                    self.here(),
                    QueryErrorKind::TooComplex { what, limit },
                ));
            }
            sources.push(self.source()?);
        }
        Ok(sources)
    }

    fn source(&mut self) -> ParseResult<FromClause> {
        self.keyword("FROM")?;
        let span = self.here();
        let alias = self.identifier("a name for the rows")?.text.clone();
        self.keyword("IN")?;
        let origin = self.origin()?;
        Ok(FromClause {
            alias,
            span,
            origin,
        })
    }

    fn origin(&mut self) -> ParseResult<RowSource> {
        if self.at_symbol("(") {
            return self.subquery();
        }
        let origin = match self.peek() {
            Some(token) if token.kind == TokenKind::Identifier => {
                match token.text.to_ascii_lowercase().as_str() {
                    "events" => Some(RowSource::Events),
                    "subjects" => Some(RowSource::Subjects),
                    "eventtypes" => Some(RowSource::EventTypes),
                    _ => None,
                }
            }
            _ => None,
        };
        let expected = "events, subjects, eventtypes or a query in parentheses";
        let origin = origin.ok_or_else(|| self.unexpected(expected))?;
        self.advance();
        Ok(origin)
    }

    fn subquery(&mut self) -> ParseResult<RowSource> {
        if self.subqueries >= MAX_SUBQUERIES {
            let (what, limit) = ("queries within each other", MAX_SUBQUERIES.into());
            return Err(SpannedError::at(
                self.here(),
                QueryErrorKind::TooComplex { what, limit },
            ));
        }
        self.symbol("(")?;
        self.subqueries = self.subqueries.saturating_add(1);
        let statement = self.nested(Self::statement)?;
        self.subqueries = self.subqueries.saturating_sub(1);
        self.symbol(")")?;
        Ok(RowSource::Query(Arc::new(statement)))
    }

    fn order_key(&mut self) -> ParseResult<OrderKey> {
        let expr = self.expression()?;
        let descending = self.take_keyword("DESC");
        if !descending {
            self.take_keyword("ASC");
        }
        Ok(OrderKey { expr, descending })
    }

    fn grouping(&mut self) -> ParseResult<Grouping> {
        self.keyword("BY")?;
        Ok(Grouping {
            keys: self.separated(Self::expression)?,
            having: self.optional("HAVING")?,
        })
    }
}
