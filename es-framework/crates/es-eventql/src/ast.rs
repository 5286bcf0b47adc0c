//! The syntax tree of a query.

use std::sync::Arc;

use super::{
    function::{Aggregate, Function},
    token::TokenIndexRange,
};

/// `FROM … PROJECT INTO …`: the whole query or a subquery in parentheses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) sources: Vec<FromClause>,
    pub(super) condition: Option<Expr>,
    pub(super) order: Vec<OrderKey>,
    pub(super) grouping: Option<Grouping>,
    pub(super) skip: Option<Expr>,
    pub(super) top: Option<Expr>,
    pub(super) distinct: bool,
    pub(super) projection: Expr,
}

/// One FROM clause: an alias, and the source of its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FromClause {
    pub(super) alias: Box<str>,
    pub(super) span: TokenIndexRange,
    pub(super) origin: RowSource,
}

/// The source of an alias's values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowSource {
    Events,
    Subjects,
    EventTypes,
    Query(Arc<Statement>),
}

/// One expression of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OrderKey {
    pub(super) expr: Expr,
    pub(super) descending: bool,
}

/// The GROUP BY and HAVING clauses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grouping {
    pub(super) keys: Vec<Expr>,
    pub(super) having: Option<Expr>,
}

/// An expression with its place in the query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: TokenIndexRange,
    /// The depth of the expression tree, including this expression.
    pub(super) depth: u16,
}

/// The kind and the parts of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Literal(Literal),
    Alias(Box<str>),
    Field(Box<Expr>, Box<str>),
    Index(Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    Aggregate(Aggregate, Option<Box<Expr>>),
    Array(Vec<Expr>),
    Record(Vec<(Box<str>, Expr)>),
    Unary(UnaryOperator, Box<Expr>),
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>, CastType),
}

/// A literal value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Not,
    Plus,
    Minus,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The target type of a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CastType {
    Int,
    Float,
    String,
    Bool,
    Date,
    Time,
    DateTime,
}

/// The precedence of operators. A larger number binds tighter.
pub(super) mod precedence {
    pub(crate) const LOWEST: u8 = 1;
    pub(crate) const NOT: u8 = 4;
    pub(crate) const UNARY: u8 = 8;
    pub(crate) const CAST: u8 = 9;
    pub(crate) const POSTFIX: u8 = 10;
}

impl UnaryOperator {
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Not => "NOT",
            Self::Plus => "+",
            Self::Minus => "-",
        }
    }

    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Not => precedence::NOT,
            Self::Plus | Self::Minus => precedence::UNARY,
        }
    }
}

impl BinaryOperator {
    pub(super) const ALL: [Self; 15] = [
        Self::Or,
        Self::Xor,
        Self::And,
        Self::Equal,
        Self::NotEqual,
        Self::LessOrEqual,
        Self::Less,
        Self::GreaterOrEqual,
        Self::Greater,
        Self::Contains,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
    ];

    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::And => "AND",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Contains => "CONTAINS",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Or => precedence::LOWEST,
            Self::Xor => 2,
            Self::And => 3,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual
            | Self::Contains => 5,
            Self::Add | Self::Subtract => 6,
            Self::Multiply | Self::Divide | Self::Remainder => 7,
        }
    }
}

impl CastType {
    pub(super) const ALL: [Self; 7] = [
        Self::Int,
        Self::Float,
        Self::String,
        Self::Bool,
        Self::Date,
        Self::Time,
        Self::DateTime,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Float => "FLOAT",
            Self::String => "STRING",
            Self::Bool => "BOOL",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::DateTime => "DATETIME",
        }
    }
}

impl Expr {
    pub(super) fn new(kind: ExprKind, span: TokenIndexRange) -> Self {
        let deepest = kind.subexpressions().iter().map(|part| part.depth).max();
        let depth = deepest.unwrap_or_default().saturating_add(1);
        Self { kind, span, depth }
    }

    /// Returns true if the expression contains an aggregate.
    pub(super) fn has_aggregate(&self) -> bool {
        let mut found = Vec::new();
        self.collect_aggregates(&mut found);
        !found.is_empty()
    }

    pub(super) fn collect_aggregates<'a>(&'a self, found: &mut Vec<&'a Self>) {
        if matches!(self.kind, ExprKind::Aggregate(..)) {
            found.push(self);
            return;
        }
        for part in self.kind.subexpressions() {
            part.collect_aggregates(found);
        }
    }
}

impl ExprKind {
    /// Returns the direct subexpressions.
    pub(super) fn subexpressions(&self) -> Vec<&Expr> {
        match self {
            Self::Literal(_) | Self::Alias(_) => Vec::new(),
            Self::Field(inner, _) | Self::Unary(_, inner) | Self::Cast(inner, _) => vec![inner],
            Self::Index(left, right) | Self::Binary(_, left, right) => vec![left, right],
            Self::Call(_, parts) | Self::Array(parts) => parts.iter().collect(),
            Self::Aggregate(_, argument) => argument.as_deref().into_iter().collect(),
            Self::Record(fields) => fields.iter().map(|(_, value)| value).collect(),
        }
    }
}

impl Statement {
    /// Returns the expressions of GROUP BY.
    pub(super) fn group_keys(&self) -> &[Expr] {
        self.grouping.as_ref().map_or(&[], |group| &group.keys)
    }

    pub(super) fn having(&self) -> Option<&Expr> {
        self.grouping.as_ref()?.having.as_ref()
    }

    /// Returns the expressions that are evaluated after grouping.
    pub(super) fn results(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        let having = self.having().into_iter();
        having.chain(order).chain([&self.projection])
    }

    /// Returns the aggregates that each group computes.
    pub(super) fn aggregates(&self) -> Vec<&Expr> {
        let mut found = Vec::new();
        for expr in self.results() {
            expr.collect_aggregates(&mut found);
        }
        found
    }

    /// Returns true if the query groups its rows, either by GROUP BY or because it uses an
    /// aggregate.
    pub(super) fn is_grouped(&self) -> bool {
        self.grouping.is_some() || !self.aggregates().is_empty()
    }
}
