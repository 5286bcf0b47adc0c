//! Computes expressions: nothing here waits or reads events.

mod aggregate;
mod cast;
mod function;
mod names;
mod numeric;
mod operator;
mod temporal;
mod textual;

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    ast::{BinaryOperator, Expr, ExprKind, FromClause, UnaryOperator},
    error::{ErrorKind, Fault},
    token::Span,
    value::Value,
};

pub(super) use aggregate::Accumulator;
pub(super) use cast::shown;
#[cfg(test)]
pub(super) use names::{AGGREGATES, FUNCTIONS};
pub(super) use names::{Aggregate, Callable, Function};

/// What the names of an expression mean.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) sources: &'a [FromClause],
    /// A value for each source.
    pub(super) row: &'a [Value],
    /// The value of each aggregate, by its place in the query.
    pub(super) aggregates: &'a [(Span, Value)],
    /// The same moment for the whole run.
    pub(super) now: Timestamp,
}

type Evaluated<T = Value> = Result<T, Fault>;

impl Scope<'_> {
    /// The value of an expression, parts of events still as they were written.
    pub(super) fn evaluate(&self, expr: &Expr) -> Evaluated {
        let failed = |kind| Fault::at(expr.span, kind);
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(literal.into()),
            ExprKind::Alias(name) => Ok(self.alias(name)),
            ExprKind::Field(target, name) => self.evaluate(target)?.field(name).map_err(failed),
            ExprKind::Index(target, index) => {
                let target = self.evaluate(target)?;
                operator::index(&target, &self.settled(index)?).map_err(failed)
            }
            ExprKind::Array(items) => Ok(Value::Array(self.all(items)?.into())),
            ExprKind::Record(fields) => self.record(fields),
            ExprKind::Aggregate(..) => Ok(self.aggregate(expr.span)),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                Ok(Value::Bool(!self.is_true(operand, "NOT")?))
            }
            ExprKind::Unary(sign, operand) => {
                operator::sign(*sign, self.settled(operand)?).map_err(failed)
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, expr),
            ExprKind::Cast(operand, to) => cast::cast(self.settled(operand)?, *to).map_err(failed),
            ExprKind::Call(Function::If, arguments) => self.choose(arguments),
            ExprKind::Call(function, arguments) => {
                let arguments = self.all_settled(arguments)?;
                function::call(*function, &arguments, self.now).map_err(failed)
            }
        }
    }

    /// The value of an expression to compute with.
    pub(super) fn settled(&self, expr: &Expr) -> Evaluated {
        let value = self.evaluate(expr)?;
        value.settled().map_err(|kind| Fault::at(expr.span, kind))
    }

    /// The value of a condition. Nothing but a boolean is one, null included.
    pub(super) fn is_true(&self, expr: &Expr, place: &'static str) -> Evaluated<bool> {
        match self.evaluate(expr)? {
            Value::Bool(value) => Ok(value),
            other => {
                let found = other.kind();
                Err(Fault::at(expr.span, ErrorKind::NotBoolean { place, found }))
            }
        }
    }

    fn alias(&self, name: &str) -> Value {
        let mut rows = self.sources.iter().zip(self.row);
        let found = rows.find(|(source, _)| &*source.alias == name);
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    fn aggregate(&self, span: Span) -> Value {
        let mut aggregates = self.aggregates.iter();
        let found = aggregates.find(|(place, _)| place.is(span));
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    fn all(&self, items: &[Expr]) -> Evaluated<Vec<Value>> {
        items.iter().map(|item| self.evaluate(item)).collect()
    }

    fn all_settled(&self, items: &[Expr]) -> Evaluated<Vec<Value>> {
        items.iter().map(|item| self.settled(item)).collect()
    }

    fn record(&self, fields: &[(Box<str>, Expr)]) -> Evaluated {
        let field = |(name, value): &(Box<str>, Expr)| -> Evaluated<(Arc<str>, Value)> {
            Ok(((&**name).into(), self.evaluate(value)?))
        };
        let fields: Evaluated<Vec<_>> = fields.iter().map(field).collect();
        Ok(Value::Record(fields?.into()))
    }

    /// Only the branch that is chosen is computed, so that the condition can guard it.
    fn choose(&self, arguments: &[Expr]) -> Evaluated {
        match arguments {
            [condition, yes, no] => {
                let chosen = self.is_true(condition, "the condition of IF")?;
                self.evaluate(if chosen { yes } else { no })
            }
            _ => Ok(Value::Null),
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        whole: &Expr,
    ) -> Evaluated {
        use BinaryOperator as Op;

        let symbol = operator.symbol();
        // AND and OR stop at the first side that decides, so that the left one can guard the right.
        let decided = match operator {
            Op::And => self.is_true(left, symbol)? && self.is_true(right, symbol)?,
            Op::Or => self.is_true(left, symbol)? || self.is_true(right, symbol)?,
            Op::Xor => self.is_true(left, symbol)? != self.is_true(right, symbol)?,
            _ => {
                let (left, right) = (self.settled(left)?, self.settled(right)?);
                return operator::binary(operator, &left, &right)
                    .map_err(|kind| Fault::at(whole.span, kind));
            }
        };
        Ok(Value::Bool(decided))
    }
}
