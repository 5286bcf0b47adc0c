//! Finds mistakes that make a query invalid for every possible event.

use super::{
    ast::{Expr, ExprKind, FromClause, RowSource, Statement},
    query_error::{QueryErrorKind, SpannedError},
};

/// Checks a query and all its subqueries.
pub(super) fn check_statement(statement: &Statement) -> Result<(), SpannedError> {
    for (index, source) in statement.sources.iter().enumerate() {
        if let RowSource::Query(inner) = &source.origin {
            check_statement(inner)?;
        }
        let mut earlier = statement.sources.iter().take(index);
        if earlier.any(|other| other.alias == source.alias) {
            let name = source.alias.clone();
            return Err(SpannedError::new(
                source.span,
                QueryErrorKind::DuplicateAlias { name },
            ));
        }
    }
    let rows = |clause| RowExpressionChecker {
        clause,
        sources: &statement.sources,
    };
    if let Some(condition) = &statement.condition {
        rows("WHERE").check(condition)?;
    }
    let no_rows = |clause| RowExpressionChecker {
        clause,
        sources: &[],
    };
    if let Some(skip) = &statement.skip {
        no_rows("SKIP").check(skip)?;
    }
    if let Some(top) = &statement.top {
        no_rows("TOP").check(top)?;
    }
    for key in statement.group_keys() {
        rows("GROUP BY").check(key)?;
    }
    let groups = GroupExpressionChecker {
        rows: rows("an aggregate"),
        keys: statement.group_keys(),
    };
    for expr in statement.results() {
        if statement.is_grouped() {
            groups.check(expr)?;
        } else {
            rows("a row").check(expr)?;
        }
    }
    Ok(())
}

/// Checks expressions that are evaluated for a single row.
#[derive(Clone, Copy)]
struct RowExpressionChecker<'a> {
    clause: &'static str,
    sources: &'a [FromClause],
}

impl RowExpressionChecker<'_> {
    /// Checks an expression that is evaluated for each row.
    fn check(self, expr: &Expr) -> Result<(), SpannedError> {
        match &expr.kind {
            ExprKind::Aggregate(..) => {
                let clause = self.clause;
                Err(SpannedError::new(
                    expr.span,
                    QueryErrorKind::AggregateNotAllowed { clause },
                ))
            }
            ExprKind::Alias(name) => self.check_alias(expr, name),
            kind => kind
                .subexpressions()
                .into_iter()
                .try_for_each(|part| self.check(part)),
        }
    }

    fn check_alias(self, expr: &Expr, name: &str) -> Result<(), SpannedError> {
        if self.sources.iter().any(|source| &*source.alias == name) {
            return Ok(());
        }
        let aliases = self.sources.iter();
        let quoted: Vec<_> = aliases
            .map(|source| format!("`{}`", source.alias))
            .collect();
        let known = if quoted.is_empty() {
            format!("none in {}", self.clause)
        } else {
            quoted.join(", ")
        };
        let kind = QueryErrorKind::UnknownAlias {
            name: name.into(),
            known: known.into(),
        };
        Err(SpannedError::new(expr.span, kind))
    }
}

/// Checks expressions that are evaluated for a group. Only keys and aggregates have one value
/// there.
struct GroupExpressionChecker<'a> {
    rows: RowExpressionChecker<'a>,
    keys: &'a [Expr],
}

impl GroupExpressionChecker<'_> {
    /// Checks an expression that is evaluated for each group.
    fn check(&self, expr: &Expr) -> Result<(), SpannedError> {
        if self.keys.contains(expr) {
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Aggregate(_, argument) => match argument {
                Some(argument) if argument.has_aggregate() => {
                    let mut inner = Vec::new();
                    argument.collect_aggregates(&mut inner);
                    let span = inner.first().map_or(argument.span, |first| first.span);
                    Err(SpannedError::new(span, QueryErrorKind::NestedAggregate))
                }
                Some(argument) => self.rows.check(argument),
                None => Ok(()),
            },
            ExprKind::Alias(_) => {
                self.rows.check(expr)?;
                let text = expr.to_string().into();
                Err(SpannedError::new(
                    expr.span,
                    QueryErrorKind::NotAggregated { expr: text },
                ))
            }
            ExprKind::Field(target, _) => {
                self.check(target).map_err(|fault| whole_path(fault, expr))
            }
            kind => kind
                .subexpressions()
                .into_iter()
                .try_for_each(|part| self.check(part)),
        }
    }
}

/// Reports the whole field path instead of the alias at its start.
fn whole_path(fault: SpannedError, path: &Expr) -> SpannedError {
    match fault.kind {
        QueryErrorKind::NotAggregated { .. } => {
            let expr = path.to_string().into();
            SpannedError::new(path.span, QueryErrorKind::NotAggregated { expr })
        }
        _ => fault,
    }
}
