//! Writes a syntax tree as text that parses into the same tree.

use std::fmt;

use super::{
    ast::{
        Expr, ExprKind, FromClause, Literal, RowSource, Statement, UnaryOperator,
        precedence::{CAST, LOWEST, POSTFIX},
    },
    lexer::is_name,
};

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for source in &self.sources {
            write!(f, "{source} ")?;
        }
        if let Some(condition) = &self.condition {
            write!(f, "WHERE {condition} ")?;
        }
        for (index, key) in self.order.iter().enumerate() {
            let before = if index == 0 { "ORDER BY " } else { ", " };
            let direction = if key.descending { "DESC" } else { "ASC" };
            write!(f, "{before}{} {direction}", key.expr)?;
        }
        if !self.order.is_empty() {
            f.write_str(" ")?;
        }
        if let Some(grouping) = &self.grouping {
            f.write_str("GROUP BY ")?;
            list(&grouping.keys, f)?;
            if let Some(having) = &grouping.having {
                write!(f, " HAVING {having}")?;
            }
            f.write_str(" ")?;
        }
        if let Some(skip) = &self.skip {
            write!(f, "SKIP {skip} ")?;
        }
        if let Some(top) = &self.top {
            write!(f, "TOP {top} ")?;
        }
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        write!(f, "PROJECT INTO {distinct}{}", self.projection)
    }
}

impl fmt::Display for FromClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FROM {} IN ", self.alias)?;
        match &self.origin {
            RowSource::Events => f.write_str("events"),
            RowSource::Subjects => f.write_str("subjects"),
            RowSource::EventTypes => f.write_str("eventtypes"),
            RowSource::Query(statement) => write!(f, "({statement})"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Alias(name) => f.write_str(name),
            ExprKind::Field(target, name) => {
                tight(target, POSTFIX, f)?;
                if is_name(name) {
                    return write!(f, ".{name}");
                }
                f.write_str("[")?;
                quoted(name, f)?;
                f.write_str("]")
            }
            ExprKind::Index(target, index) => {
                tight(target, POSTFIX, f)?;
                write!(f, "[{index}]")
            }
            ExprKind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                list(arguments, f)?;
                f.write_str(")")
            }
            ExprKind::Aggregate(aggregate, argument) => {
                write!(f, "{}(", aggregate.name())?;
                list(argument.as_deref(), f)?;
                f.write_str(")")
            }
            ExprKind::Array(items) => {
                f.write_str("[")?;
                list(items, f)?;
                f.write_str("]")
            }
            ExprKind::Record(fields) => record(fields, f),
            ExprKind::Unary(operator, operand) => {
                let blank = if *operator == UnaryOperator::Not {
                    " "
                } else {
                    ""
                };
                write!(f, "{}{blank}", operator.symbol())?;
                tight(operand, operator.precedence(), f)
            }
            ExprKind::Binary(operator, left, right) => {
                tight(left, operator.precedence(), f)?;
                write!(f, " {} ", operator.symbol())?;
                tight(right, operator.precedence().saturating_add(1), f)
            }
            ExprKind::Cast(operand, to) => {
                tight(operand, CAST, f)?;
                write!(f, " AS {}", to.name())
            }
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            // `Debug` writes the decimal point or exponent that makes the number a float.
            Self::Float(value) => fmt::Debug::fmt(value, f),
            Self::Text(text) => quoted(text, f),
        }
    }
}

fn precedence(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Unary(operator, _) => operator.precedence(),
        ExprKind::Binary(operator, ..) => operator.precedence(),
        ExprKind::Cast(..) => CAST,
        _ => POSTFIX,
    }
}

/// Writes an operand, with parentheses if its precedence requires them.
fn tight(expr: &Expr, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if precedence(expr) < least.max(LOWEST) {
        write!(f, "({expr})")
    } else {
        fmt::Display::fmt(expr, f)
    }
}

fn list<'a>(items: impl IntoIterator<Item = &'a Expr>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        let before = if index == 0 { "" } else { ", " };
        write!(f, "{before}{item}")?;
    }
    Ok(())
}

fn record(fields: &[(Box<str>, Expr)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, (name, value)) in fields.iter().enumerate() {
        f.write_str(if index == 0 { "{ " } else { ", " })?;
        if is_name(name) {
            f.write_str(name)?;
        } else {
            quoted(name, f)?;
        }
        write!(f, ": {value}")?;
    }
    f.write_str(if fields.is_empty() { "{}" } else { " }" })
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write as _;

    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control.is_ascii_control() => write!(f, "\\u{:04x}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('"')
}
