//! Evaluates expressions. Nothing here waits or reads events.

mod aggregate;
mod apply_operator;
mod argument_error;
mod call;
mod call_numeric;
mod call_text;
mod call_time;
mod cast;
mod number;

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    ast::{BinaryOperator, Expr, ExprKind, FromClause, UnaryOperator},
    function::Function,
    query_budget::RowBudget,
    query_error::{QueryErrorKind, SpannedError},
    query_limits::MAX_VALUE_DEPTH,
    token::TokenIndexRange,
    value::Value,
};

pub(super) use aggregate::Accumulator;
pub(super) use cast::value_for_message;

/// The values of the names in an expression.
pub(super) struct NameBindings<'a> {
    pub(super) sources: &'a [FromClause],
    /// One value for each FROM clause.
    pub(super) row: &'a [Value],
    /// The value of each aggregate, identified by its position in the query.
    pub(super) aggregates: &'a [(TokenIndexRange, Value)],
    /// The current time, which stays the same during a run.
    pub(super) now: Timestamp,
    pub(super) budget: RowBudget<'a>,
}

type EvaluationResult<T = Value> = Result<T, SpannedError>;

impl NameBindings<'_> {
    /// Evaluates an expression without decoding raw JSON.
    pub(super) fn evaluate(&self, expr: &Expr) -> EvaluationResult {
        let before = self.budget.bytes();
        let value = self.evaluate_uncounted(expr)?;
        self.count_since(before, expr, value)
    }

    /// Counts the value of an expression. The values that the expression needed are gone.
    fn count_since(&self, before: usize, expr: &Expr, value: Value) -> EvaluationResult {
        let mut counted = self.budget.replace_since(before, value.size());
        if value.depth() > MAX_VALUE_DEPTH {
            counted = Err(QueryErrorKind::TooComplex {
                what: "levels of nesting in a value",
                limit: MAX_VALUE_DEPTH.into(),
            });
        }
        counted.map_err(|kind| SpannedError::new(expr.span, kind))?;
        Ok(value)
    }

    fn evaluate_uncounted(&self, expr: &Expr) -> EvaluationResult {
        let failed = |kind| SpannedError::new(expr.span, kind);
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(literal.into()),
            ExprKind::Alias(name) => Ok(self.alias(name)),
            ExprKind::Field(target, name) => self.evaluate(target)?.member(name).map_err(failed),
            ExprKind::Index(target, index) => {
                let target = self.evaluate(target)?;
                apply_operator::find_element(&target, &self.evaluate_and_decode(index)?)
                    .map_err(failed)
            }
            ExprKind::Array(items) => Ok(Value::from_items(self.all(items)?)),
            ExprKind::Record(fields) => self.record(fields),
            ExprKind::Aggregate(..) => Ok(self.aggregate(expr.span)),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                Ok(Value::Bool(!self.evaluate_condition(operand, "NOT")?))
            }
            ExprKind::Unary(sign, operand) => {
                apply_operator::apply_sign(*sign, self.evaluate_and_decode(operand)?)
                    .map_err(failed)
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, expr),
            ExprKind::Cast(operand, to) => {
                cast::cast(self.evaluate_and_decode(operand)?, *to).map_err(failed)
            }
            ExprKind::Call(Function::If, arguments) => self.choose(arguments),
            ExprKind::Call(function, arguments) => {
                let arguments = self.evaluate_and_decode_all(arguments)?;
                call::call_function(*function, &arguments, self.now, &self.budget).map_err(failed)
            }
        }
    }

    /// Evaluates an expression and decodes raw JSON.
    pub(super) fn evaluate_and_decode(&self, expr: &Expr) -> EvaluationResult {
        let before = self.budget.bytes();
        let decoded = self.evaluate(expr)?.decode(&self.budget);
        let value = decoded.map_err(|kind| SpannedError::new(expr.span, kind))?;
        self.count_since(before, expr, value)
    }

    /// Evaluates a condition. Any value except a boolean is an error, even null.
    pub(super) fn evaluate_condition(
        &self,
        expr: &Expr,
        place: &'static str,
    ) -> EvaluationResult<bool> {
        match self.evaluate(expr)? {
            Value::Bool(value) => Ok(value),
            other => {
                let found = other.kind_name();
                Err(SpannedError::new(
                    expr.span,
                    QueryErrorKind::NotBoolean { place, found },
                ))
            }
        }
    }

    /// Returns the value of the FROM clause with this alias.
    fn alias(&self, name: &str) -> Value {
        let mut rows = self.sources.iter().zip(self.row);
        let found = rows.find(|(source, _)| &*source.alias == name);
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    /// Returns the value of the aggregate at this place of the query.
    fn aggregate(&self, span: TokenIndexRange) -> Value {
        let mut aggregates = self.aggregates.iter();
        let found = aggregates.find(|(place, _)| place.has_same_bounds(span));
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    fn all(&self, items: &[Expr]) -> EvaluationResult<Vec<Value>> {
        items.iter().map(|item| self.evaluate(item)).collect()
    }

    fn evaluate_and_decode_all(&self, items: &[Expr]) -> EvaluationResult<Vec<Value>> {
        items
            .iter()
            .map(|item| self.evaluate_and_decode(item))
            .collect()
    }

    fn record(&self, fields: &[(Box<str>, Expr)]) -> EvaluationResult {
        let field = |(name, value): &(Box<str>, Expr)| -> EvaluationResult<(Arc<str>, Value)> {
            Ok(((&**name).into(), self.evaluate(value)?))
        };
        let fields: EvaluationResult<Vec<_>> = fields.iter().map(field).collect();
        Ok(Value::from_fields(fields?))
    }

    /// Evaluates only the chosen branch, so the condition can guard it.
    fn choose(&self, arguments: &[Expr]) -> EvaluationResult {
        match arguments {
            [condition, yes, no] => {
                let chosen = self.evaluate_condition(condition, "the condition of IF")?;
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
    ) -> EvaluationResult {
        use BinaryOperator as Op;

        let symbol = operator.symbol();
        // AND and OR evaluate the right operand only if needed, so the left one can guard it.
        let decided = match operator {
            Op::And => {
                self.evaluate_condition(left, symbol)? && self.evaluate_condition(right, symbol)?
            }
            Op::Or => {
                self.evaluate_condition(left, symbol)? || self.evaluate_condition(right, symbol)?
            }
            Op::Xor => {
                self.evaluate_condition(left, symbol)? != self.evaluate_condition(right, symbol)?
            }
            _ => {
                let (left, right) = (
                    self.evaluate_and_decode(left)?,
                    self.evaluate_and_decode(right)?,
                );
                return apply_operator::apply_binary(operator, &left, &right)
                    .map_err(|kind| SpannedError::new(whole.span, kind));
            }
        };
        Ok(Value::Bool(decided))
    }
}
