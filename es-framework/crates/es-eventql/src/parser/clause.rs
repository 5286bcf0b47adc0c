//! Parses the clauses of a query.

use std::sync::Arc;

use super::{ParseResult, Parser};
use crate::{
    ast::{Expr, FromClause, Grouping, OrderKey, RowSource, Statement},
    query_error::SpannedError,
    query_limits::{MAX_SOURCES, MAX_SUBQUERIES},
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn parse_statement(&mut self) -> ParseResult<Statement> {
        let sources = self.parse_sources()?;
        let condition = self.parse_optional_clause("WHERE")?;
        let (mut order, mut grouping) = (Vec::new(), None);
        // Queries in practice use both orders of ORDER BY and GROUP BY, so the parser accepts both.
        loop {
            if order.is_empty() && self.take_keyword("ORDER") {
                self.expect_keyword("BY")?;
                order = self.parse_separated(Self::parse_order_key)?;
            } else if grouping.is_none() && self.take_keyword("GROUP") {
                grouping = Some(self.parse_grouping()?);
            } else {
                break;
            }
        }
        let (mut skip, mut top) = (None, None);
        loop {
            if skip.is_none() && self.at_keyword("SKIP") {
                skip = self.parse_optional_clause("SKIP")?;
            } else if top.is_none() && self.at_keyword("TOP") {
                top = self.parse_optional_clause("TOP")?;
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
        self.expect_keyword("INTO")?;
        Ok(Statement {
            sources,
            condition,
            order,
            grouping,
            skip,
            top,
            distinct: self.take_keyword("DISTINCT"),
            projection: self.parse_expression()?,
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

    fn parse_optional_clause(&mut self, keyword: &str) -> ParseResult<Option<Expr>> {
        if self.take_keyword(keyword) {
            return self.parse_expression().map(Some);
        }
        Ok(None)
    }

    fn parse_sources(&mut self) -> ParseResult<Vec<FromClause>> {
        let mut sources = vec![self.parse_source()?];
        while self.at_keyword("FROM") {
            if sources.len() >= MAX_SOURCES {
                let (what, limit) = ("FROM clauses", MAX_SOURCES);
                return Err(SpannedError::too_complex(self.here(), what, limit));
            }
            sources.push(self.parse_source()?);
        }
        Ok(sources)
    }

    fn parse_source(&mut self) -> ParseResult<FromClause> {
        self.expect_keyword("FROM")?;
        let span = self.here();
        let alias = self.expect_identifier("a name for the rows")?.text.clone();
        self.expect_keyword("IN")?;
        let origin = self.parse_row_source()?;
        Ok(FromClause {
            alias,
            span,
            origin,
        })
    }

    fn parse_row_source(&mut self) -> ParseResult<RowSource> {
        if self.at_symbol("(") {
            return self.parse_subquery();
        }
        let named = match self.peek() {
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
        let origin = named.ok_or_else(|| self.unexpected(expected))?;
        self.advance();
        Ok(origin)
    }

    fn parse_subquery(&mut self) -> ParseResult<RowSource> {
        if self.subqueries >= MAX_SUBQUERIES {
            let (what, limit) = ("queries within each other", MAX_SUBQUERIES.into());
            return Err(SpannedError::too_complex(self.here(), what, limit));
        }
        self.expect_symbol("(")?;
        self.subqueries = self.subqueries.saturating_add(1);
        let statement = self.parse_nested(Self::parse_statement)?;
        self.subqueries = self.subqueries.saturating_sub(1);
        self.expect_symbol(")")?;
        Ok(RowSource::Query(Arc::new(statement)))
    }

    fn parse_order_key(&mut self) -> ParseResult<OrderKey> {
        let expr = self.parse_expression()?;
        let descending = self.take_keyword("DESC");
        if !descending {
            self.take_keyword("ASC");
        }
        Ok(OrderKey { expr, descending })
    }

    fn parse_grouping(&mut self) -> ParseResult<Grouping> {
        self.expect_keyword("BY")?;
        Ok(Grouping {
            keys: self.parse_separated(Self::parse_expression)?,
            having: self.parse_optional_clause("HAVING")?,
        })
    }
}
