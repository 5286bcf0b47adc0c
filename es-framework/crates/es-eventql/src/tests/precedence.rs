//! The precedence of operators.

use crate::EventQlQuery;

fn printed(expr: &str) -> String {
    let query = EventQlQuery::parse(&format!("FROM e IN events PROJECT INTO {expr}")).unwrap();
    let text = query.to_string();
    text.strip_prefix("FROM e IN events PROJECT INTO ")
        .unwrap()
        .to_owned()
}

/// The printer omits redundant parentheses, so the printed text shows the precedence of the operators.
#[test]
fn parentheses_that_change_nothing_go() {
    for (with, without) in [
        ("(e.a OR (e.b XOR e.c))", "e.a OR e.b XOR e.c"),
        ("(e.a XOR (e.b AND e.c))", "e.a XOR e.b AND e.c"),
        ("((NOT e.a) AND (NOT e.b))", "NOT e.a AND NOT e.b"),
        ("(NOT (e.a == e.b))", "NOT e.a == e.b"),
        ("(NOT (e.a CONTAINS e.b))", "NOT e.a CONTAINS e.b"),
        ("((e.a + e.b) == (e.c - e.d))", "e.a + e.b == e.c - e.d"),
        ("((e.a CONTAINS e.b) == e.c)", "e.a CONTAINS e.b == e.c"),
        ("(e.a + (e.b * e.c))", "e.a + e.b * e.c"),
        ("((e.a - e.b) - e.c)", "e.a - e.b - e.c"),
        ("(((e.a / e.b) * e.c) % e.d)", "e.a / e.b * e.c % e.d"),
        ("((-e.a) * e.b)", "-e.a * e.b"),
        ("(-(e.a AS INT))", "-e.a AS INT"),
        ("((e.a AS INT) AS STRING)", "e.a AS INT AS STRING"),
        ("((e.a.b) AS INT)", "e.a.b AS INT"),
        ("(-(-e.a))", "--e.a"),
        ("(NOT (NOT e.a))", "NOT NOT e.a"),
        ("((e.a OR e.b) OR e.c)", "e.a OR e.b OR e.c"),
    ] {
        assert_eq!(printed(with), without);
    }
}

#[test]
fn parentheses_that_change_something_stay() {
    for expr in [
        "(e.a OR e.b) AND e.c",
        "(e.a OR e.b) XOR e.c",
        "(e.a XOR e.b) AND e.c",
        "NOT (e.a AND e.b)",
        "(NOT e.a) == e.b",
        "e.a == (e.b == e.c)",
        "e.a - (e.b - e.c)",
        "(e.a + e.b) * e.c",
        "e.a / (e.b * e.c)",
        "-(e.a + e.b)",
        "(-e.a) AS INT",
        "(e.a + e.b) AS INT",
        "(e.a AS STRING).b",
        "(e.a OR e.b)[0]",
    ] {
        assert_eq!(printed(expr), expr);
    }
}

#[test]
fn keywords_and_functions_have_no_case_and_the_canonical_form_has_one() {
    let text = "from E in EVENTS // every one\nwhere not e.a contains 'x' /* or\nnot */ group by E.b having count(true) > 1 order by E.b desc top 1+1 skip 2 project into distinct { 'a b': len(E.b), from: E.b as int, }";
    let error = EventQlQuery::parse(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown alias `e`: this query knows `E` (line 2, column 11)"
    );
    let query = EventQlQuery::parse(&text.replace(" e.", " E.")).unwrap();
    let canonical = r#"FROM E IN events WHERE NOT E.a CONTAINS "x" ORDER BY E.b DESC GROUP BY E.b HAVING COUNT(true) > 1 SKIP 2 TOP 1 + 1 PROJECT INTO DISTINCT { "a b": LEN(E.b), from: E.b AS INT }"#;
    assert_eq!(query.to_string(), canonical);
}
