//! What is wrong with a query whatever the events are.

use super::{
    ast::{Expr, ExprKind, FromClause, Origin, Statement},
    error::{ErrorKind, Fault},
};

/// Checks a query and all queries within it.
pub(super) fn check(statement: &Statement) -> Result<(), Fault> {
    for (index, source) in statement.sources.iter().enumerate() {
        if let Origin::Query(inner) = &source.origin {
            check(inner)?;
        }
        let mut earlier = statement.sources.iter().take(index);
        if earlier.any(|other| other.alias == source.alias) {
            let name = source.alias.clone();
            return Err(Fault::at(source.span, ErrorKind::DuplicateAlias { name }));
        }
    }
    let rows = |clause| Rows {
        clause,
        sources: &statement.sources,
    };
    if let Some(condition) = &statement.condition {
        rows("WHERE").check(condition)?;
    }
    let no_rows = |clause| Rows {
        clause,
        sources: &[],
    };
    if let Some(skip) = &statement.skip {
        no_rows("SKIP").check(skip)?;
    }
    if let Some(top) = &statement.top {
        no_rows("TOP").check(top)?;
    }
    let keys = statement
        .grouping
        .as_ref()
        .map(|group| group.keys.as_slice());
    let keys = keys.unwrap_or_default();
    for key in keys {
        rows("GROUP BY").check(key)?;
    }
    let groups = Groups {
        rows: rows("an aggregate"),
        keys,
    };
    for expr in results(statement) {
        if statement.is_grouped() {
            groups.check(expr)?;
        } else {
            rows("a row").check(expr)?;
        }
    }
    Ok(())
}

/// What is computed after rows have come together.
fn results(statement: &Statement) -> impl Iterator<Item = &Expr> {
    let having = statement
        .grouping
        .as_ref()
        .and_then(|group| group.having.as_ref());
    let order = statement.order.iter().map(|key| &key.expr);
    having
        .into_iter()
        .chain(order)
        .chain([&statement.projection])
}

/// Expressions over single rows.
#[derive(Clone, Copy)]
struct Rows<'a> {
    clause: &'static str,
    sources: &'a [FromClause],
}

impl Rows<'_> {
    fn check(self, expr: &Expr) -> Result<(), Fault> {
        match &expr.kind {
            ExprKind::Aggregate(..) => {
                let clause = self.clause;
                Err(Fault::at(
                    expr.span,
                    ErrorKind::AggregateNotAllowed { clause },
                ))
            }
            ExprKind::Alias(name) => self.check_alias(expr, name),
            kind => kind
                .parts()
                .into_iter()
                .try_for_each(|part| self.check(part)),
        }
    }

    fn check_alias(self, expr: &Expr, name: &str) -> Result<(), Fault> {
        if self.sources.iter().any(|source| &*source.alias == name) {
            return Ok(());
        }
        let known: Vec<_> = self
            .sources
            .iter()
            .map(|source| format!("`{}`", source.alias))
            .collect();
        let known = if known.is_empty() {
            format!("none in {}", self.clause)
        } else {
            known.join(", ")
        };
        let kind = ErrorKind::UnknownAlias {
            name: name.into(),
            known: known.into(),
        };
        Err(Fault::at(expr.span, kind))
    }
}

/// Expressions over groups: only keys and aggregates have one value there.
struct Groups<'a> {
    rows: Rows<'a>,
    keys: &'a [Expr],
}

impl Groups<'_> {
    fn check(&self, expr: &Expr) -> Result<(), Fault> {
        if self.keys.contains(expr) {
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Aggregate(_, argument) => match argument {
                Some(argument) if argument.has_aggregate() => {
                    let mut inner = Vec::new();
                    argument.collect_aggregates(&mut inner);
                    let span = inner.first().map_or(argument.span, |first| first.span);
                    Err(Fault::at(span, ErrorKind::NestedAggregate))
                }
                Some(argument) => self.rows.check(argument),
                None => Ok(()),
            },
            ExprKind::Alias(_) => {
                self.rows.check(expr)?;
                let text = expr.to_string().into();
                Err(Fault::at(
                    expr.span,
                    ErrorKind::NotAggregated { expr: text },
                ))
            }
            ExprKind::Field(target, _) => {
                self.check(target).map_err(|fault| whole_path(fault, expr))
            }
            kind => kind
                .parts()
                .into_iter()
                .try_for_each(|part| self.check(part)),
        }
    }
}

/// It is the field that has many values, not the row that it belongs to.
fn whole_path(fault: Fault, path: &Expr) -> Fault {
    match fault.kind {
        ErrorKind::NotAggregated { .. } => {
            let expr = path.to_string().into();
            Fault::at(path.span, ErrorKind::NotAggregated { expr })
        }
        _ => fault,
    }
}
