//! Random trees and texts.

use proptest::{collection::vec, option, prelude::*};

use crate::{
    ast::{
        BinaryOperator, CastType, Expr, ExprKind, FromClause, Grouping, Literal, OrderKey,
        RowSource, Statement, UnaryOperator,
    },
    function::{CALLABLES, CallableKind},
    token::TokenIndexRange,
};

const NOWHERE: TokenIndexRange = TokenIndexRange { first: 0, last: 0 };

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, NOWHERE)
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        (0..=i64::MAX).prop_map(Literal::Int),
        (0..4_i64).prop_map(Literal::Int),
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(|float| Literal::Float(float.abs())),
        ".{0,6}".prop_map(|text| Literal::Text(text.into())),
    ]
}

/// Plain names, keywords, and names that need quotes.
fn field_name() -> impl Strategy<Value = Box<str>> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,4}",
        Just("from".to_owned()),
        Just("ORDER".to_owned()),
        Just("größe".to_owned()),
        ".{0,4}",
    ]
    .prop_map(Into::into)
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        literal().prop_map(|literal| expr(ExprKind::Literal(literal))),
        prop_oneof![Just("e"), Just("f"), Just("events"), Just("int")]
            .prop_map(|name| expr(ExprKind::Alias(name.into()))),
    ]
}

pub(super) fn expression() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(6, 48, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let signs = [
            UnaryOperator::Not,
            UnaryOperator::Plus,
            UnaryOperator::Minus,
        ];
        let unary = (proptest::sample::select(signs.to_vec()), boxed.clone());
        let operators = proptest::sample::select(BinaryOperator::ALL.to_vec());
        let types = proptest::sample::select(CastType::ALL.to_vec());
        let call = proptest::sample::select(CALLABLES.to_vec()).prop_flat_map({
            let inner = inner.clone();
            move |callable| {
                let count = callable.min_arguments..=callable.max_arguments;
                vec(inner.clone(), count).prop_map(move |arguments| match callable.kind {
                    CallableKind::Function(function) => ExprKind::Call(function, arguments),
                    CallableKind::Aggregate(aggregate) => {
                        let argument = arguments.into_iter().next();
                        ExprKind::Aggregate(aggregate, argument.map(Box::new))
                    }
                })
            }
        });
        prop_oneof![
            3 => (operators, boxed.clone(), boxed.clone())
                .prop_map(|(operator, left, right)| ExprKind::Binary(operator, left, right)),
            2 => unary.prop_map(|(operator, operand)| ExprKind::Unary(operator, operand)),
            2 => (boxed.clone(), field_name())
                .prop_map(|(target, name)| ExprKind::Field(target, name)),
            1 => (boxed.clone(), boxed.clone()).prop_map(|(target, index)| {
                match index.kind {
                    // The parser turns an index with a fixed name into a field.
                    ExprKind::Literal(Literal::Text(name)) => {
                        ExprKind::Field(target, (&*name).into())
                    }
                    _ => ExprKind::Index(target, index),
                }
            }),
            1 => (boxed, types).prop_map(|(operand, to)| ExprKind::Cast(operand, to)),
            2 => call,
            1 => vec(inner.clone(), 0..3).prop_map(ExprKind::Array),
            1 => vec((field_name(), inner), 0..3).prop_map(ExprKind::Record),
        ]
        .prop_map(expr)
    })
}

fn sources(origin: impl Strategy<Value = RowSource>) -> impl Strategy<Value = Vec<FromClause>> {
    vec(origin, 1..3).prop_map(|origins| {
        let clause = |(origin, alias): (RowSource, &str)| FromClause {
            alias: alias.into(),
            span: NOWHERE,
            origin,
        };
        origins.into_iter().zip(["e", "f"]).map(clause).collect()
    })
}

fn over(origin: impl Strategy<Value = RowSource>) -> impl Strategy<Value = Statement> {
    let order = (expression(), any::<bool>());
    let order = order.prop_map(|(expr, descending)| OrderKey { expr, descending });
    let grouping = (vec(expression(), 1..3), option::of(expression()));
    let grouping = grouping.prop_map(|(keys, having)| Grouping { keys, having });
    (
        sources(origin),
        option::of(expression()),
        vec(order, 0..3),
        option::of(grouping),
        option::of(expression()),
        option::of(expression()),
        any::<bool>(),
        expression(),
    )
        .prop_map(
            |(sources, condition, order, grouping, skip, top, distinct, projection)| Statement {
                sources,
                condition,
                order,
                grouping,
                skip,
                top,
                distinct,
                projection,
            },
        )
}

pub(super) fn statement() -> impl Strategy<Value = Statement> {
    let plain = prop_oneof![
        Just(RowSource::Events),
        Just(RowSource::Subjects),
        Just(RowSource::EventTypes)
    ];
    let nested = over(plain.clone()).prop_map(|inner| RowSource::Query(inner.into()));
    over(prop_oneof![3 => plain, 1 => nested])
}

const WORDS: [&str; 76] = [
    "FROM",
    "e",
    "IN",
    "events",
    "subjects",
    "eventtypes",
    "WHERE",
    "ORDER BY",
    "GROUP BY",
    "HAVING",
    "SKIP",
    "TOP",
    "PROJECT INTO",
    "DISTINCT",
    "ASC",
    "DESC",
    "AND",
    "OR",
    "XOR",
    "NOT",
    "CONTAINS",
    "AS",
    "INT",
    "DATE",
    "TIME",
    "DATETIME",
    "STRING",
    "FLOAT",
    "BOOL",
    "true",
    "false",
    "null",
    "1",
    "0",
    "2.5",
    "1e400",
    "'a'",
    "\"b\"",
    "'",
    "\"",
    "\\",
    "e.data.v",
    "e.data.list[0]",
    "e.type",
    "e.id AS INT",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{ a:",
    ",",
    ".",
    ":",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "COUNT()",
    "AVG(",
    "UNIQUE(e.type)",
    "MEDIAN(e.data.v)",
    "LEN(",
    "IF(",
    "NOW()",
    "//",
    "/*",
];

/// Words of the language in random order.
pub(super) fn words() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(WORDS.to_vec()), 0..24).prop_map(|words| words.join(" "))
}

const VALID: [&str; 8] = [
    "FROM e IN events PROJECT INTO e",
    "FROM e IN events WHERE e.type == \"io.example.x\"PROJECT INTO { average: AVG(e.data.v), count: COUNT() } ",
    "FROM e IN events WHERE e.data.v > 1 AND NOT e.subject == '/b' ORDER BY e.data.v DESC SKIP 1 TOP 2 PROJECT INTO [e.id AS INT, e.data.v * 2]",
    "FROM e IN events ORDER BY COUNT() DESC GROUP BY e.subject HAVING COUNT() > 0 PROJECT INTO DISTINCT { s: e.subject, m: MEDIAN(e.data.v) }",
    "FROM e IN events FROM t IN eventtypes WHERE e.type == t TOP 3 PROJECT INTO SUBSTRING(t, 1 + 2, LEN(t) / 2 AS INT)",
    "FROM r IN (FROM e IN events GROUP BY e.type PROJECT INTO { n: COUNT(), t: e.type }) WHERE r.n >= 1 PROJECT INTO IF(r.n == 1, 'one', r.t)",
    "FROM e IN events /* all */ PROJECT INTO YEAR(e.time AS DATETIME) - 2000 // years\n",
    "FROM s IN subjects WHERE ['/a', \"/b\"] CONTAINS s PROJECT INTO REPLACE(UPPER(s), '/', '\\u0041')",
];

/// Valid queries with some parts left out, doubled, exchanged or replaced.
pub(super) fn mutated() -> impl Strategy<Value = String> {
    let query = proptest::sample::select(VALID.to_vec());
    let change = (
        any::<prop::sample::Index>(),
        0..6_usize,
        0..4_u8,
        "\\PC{0,2}",
        words(),
    );
    (query, vec(change, 0..4)).prop_map(|(query, changes)| {
        let mut text: Vec<char> = query.chars().collect();
        for (place, length, kind, characters, words) in changes {
            let start = place.index(text.len() + 1);
            let end = (start + length).min(text.len());
            let removed: Vec<char> = text[start..end].to_vec();
            let instead: Vec<char> = match kind {
                0 => Vec::new(),
                1 => [removed.clone(), removed].concat(),
                2 => characters.chars().collect(),
                _ => words.chars().take(12).collect(),
            };
            text.splice(start..end, instead);
        }
        text.into_iter().collect()
    })
}
