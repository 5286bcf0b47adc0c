//! Every error, with the words that it names.

use super::{answer, data, value};
use crate::eventql::{MAX_LENGTH, Query, QueryError};

fn refused(query: &str) -> QueryError {
    match Query::parse(query) {
        Ok(query) => panic!("accepted {query}"),
        Err(error) => error,
    }
}

/// Line and column of the first and the last word, and their texts.
fn place(error: &QueryError) -> String {
    let (first, last) = (error.start_token().unwrap(), error.end_token().unwrap());
    format!(
        "{}:{} {} to {}:{} {}",
        first.line, first.column, first.text, last.line, last.column, last.text
    )
}

#[test]
fn what_is_no_word_is_named() {
    for (query, message, at) in [
        (
            "FROM e IN events WHERE 1 ^ 2",
            "unexpected character '^'",
            "1:26 ^ to 1:26 ^",
        ),
        (
            "FROM e\n  IN 'abc",
            "the string is not closed",
            "2:6 'abc to 2:6 'abc",
        ),
        (
            "FROM /* e",
            "the comment is not closed: write `*/` at its end",
            "1:6 /* e to 1:6 /* e",
        ),
        (
            r"FROM e IN '\q'",
            "invalid escape `\\q`",
            r"1:11 '\q' to 1:11 '\q'",
        ),
        (
            r"FROM e IN '\ud800'",
            "invalid escape `\\u`",
            r"1:11 '\ud800' to 1:11 '\ud800'",
        ),
        (
            "FROM e IN 12ab",
            "invalid number `12ab`",
            "1:11 12ab to 1:11 12ab",
        ),
        (
            "FROM e IN 9223372036854775808",
            "invalid number `9223372036854775808`",
            "1:11 9223372036854775808 to 1:11 9223372036854775808",
        ),
        (
            "FROM e IN 1e999",
            "invalid number `1e999`",
            "1:11 1e999 to 1:11 1e999",
        ),
    ] {
        let error = refused(query);
        assert!(error.kind().to_string().starts_with(message), "{error}");
        assert_eq!(place(&error), at, "{query}");
    }
}

#[test]
fn what_does_not_belong_there_is_named() {
    for (query, message, at) in [
        (
            "",
            "expected FROM, found the end of the query",
            "1:1  to 1:1 ",
        ),
        (
            "SELECT 1",
            "expected FROM, found `SELECT`",
            "1:1 SELECT to 1:1 SELECT",
        ),
        (
            "FROM from IN events",
            "expected a name for the rows, found `from`",
            "1:6 from to 1:6 from",
        ),
        (
            "FROM e events",
            "expected IN, found `events`",
            "1:8 events to 1:8 events",
        ),
        (
            "FROM e IN books",
            "expected events, subjects, eventtypes or a query in parentheses, found `books`",
            "1:11 books to 1:11 books",
        ),
        (
            "FROM e IN events",
            "expected an operator, WHERE, ORDER BY, GROUP BY, SKIP, TOP, or PROJECT INTO, found the end of the query",
            "1:17  to 1:17 ",
        ),
        (
            "FROM e IN events TOP 1 TOP 2",
            "expected an operator, WHERE, ORDER BY, GROUP BY, SKIP, or PROJECT INTO, found `TOP`",
            "1:24 TOP to 1:24 TOP",
        ),
        (
            "FROM e IN events PROJECT e",
            "expected INTO, found `e`",
            "1:26 e to 1:26 e",
        ),
        (
            "FROM e IN events PROJECT INTO",
            "expected an expression, found the end of the query",
            "1:30  to 1:30 ",
        ),
        (
            "FROM e IN events PROJECT INTO e e",
            "expected the end of the query: the projection comes last, found `e`",
            "1:33 e to 1:33 e",
        ),
        (
            "FROM e IN events PROJECT INTO (e",
            "expected `)`, found the end of the query",
            "1:33  to 1:33 ",
        ),
        (
            "FROM e IN events PROJECT INTO [1 2]",
            "expected `,` or `]`, found `2`",
            "1:34 2 to 1:34 2",
        ),
        (
            "FROM e IN events PROJECT INTO {a 1}",
            "expected `:`, found `1`",
            "1:34 1 to 1:34 1",
        ),
        (
            "FROM e IN events PROJECT INTO e.1",
            "expected a field name, found `1`",
            "1:33 1 to 1:33 1",
        ),
        (
            "FROM e IN events PROJECT INTO e AS NUMBER",
            "expected INT, FLOAT, STRING, BOOL, DATE, TIME or DATETIME, found `NUMBER`",
            "1:36 NUMBER to 1:36 NUMBER",
        ),
        (
            "FROM e IN events WHERE true == NOT true",
            "expected a value: put NOT and what follows it into parentheses, found `NOT`",
            "1:32 NOT to 1:32 NOT",
        ),
    ] {
        let error = refused(query);
        assert_eq!(error.kind().to_string(), message);
        assert_eq!(place(&error), at, "{query}");
    }
}

#[test]
fn what_cannot_have_an_answer_is_named() {
    for (query, message, at) in [
        (
            "FROM e IN events WHERE f.x == 1 PROJECT INTO e",
            "unknown alias `f`: this query knows `e`",
            "1:24 f to 1:24 f",
        ),
        (
            "FROM e IN events TOP e.x PROJECT INTO e",
            "unknown alias `e`: this query knows none in TOP",
            "1:22 e to 1:22 e",
        ),
        (
            "FROM e IN events FROM f IN (FROM g IN events WHERE e.x PROJECT INTO g) PROJECT INTO f",
            "unknown alias `e`: this query knows `g`",
            "1:52 e to 1:52 e",
        ),
        (
            "FROM e IN events FROM e IN events PROJECT INTO e",
            "the alias `e` is taken",
            "1:23 e to 1:23 e",
        ),
        (
            "FROM e IN events\nWHERE COUNT() > 1 PROJECT INTO e",
            "an aggregate cannot stand in WHERE",
            "2:7 COUNT to 2:13 )",
        ),
        (
            "FROM e IN events SKIP COUNT() PROJECT INTO e",
            "an aggregate cannot stand in SKIP",
            "1:23 COUNT to 1:29 )",
        ),
        (
            "FROM e IN events GROUP BY SUM(e.a) PROJECT INTO e",
            "an aggregate cannot stand in GROUP BY",
            "1:27 SUM to 1:34 )",
        ),
        (
            "FROM e IN events PROJECT INTO SUM(MAX(e.a) + 1)",
            "an aggregate cannot stand within an aggregate",
            "1:35 MAX to 1:42 )",
        ),
        (
            "FROM e IN events PROJECT INTO CUONT()",
            "unknown function `CUONT`: did you mean COUNT?",
            "1:31 CUONT to 1:31 CUONT",
        ),
        (
            "FROM e IN events PROJECT INTO frobnicate()",
            "unknown function `frobnicate`: there are ABS, CEIL,",
            "1:31 frobnicate to 1:31 frobnicate",
        ),
        (
            "FROM e IN events PROJECT INTO POW(1)",
            "POW takes 2 arguments, found 1",
            "1:31 POW to 1:36 )",
        ),
        (
            "FROM e IN events PROJECT INTO COUNT(true, false)",
            "COUNT takes at most one argument, found 2",
            "1:31 COUNT to 1:48 )",
        ),
        (
            "FROM e IN events PROJECT INTO NOW(1)",
            "NOW takes no argument, found 1",
            "1:31 NOW to 1:36 )",
        ),
        (
            "FROM e IN events PROJECT INTO { a: e.data.x, n: COUNT() }",
            "`e.data.x` has a value for each row of a group",
            "1:36 e to 1:43 x",
        ),
        (
            "FROM e IN events GROUP BY e.type PROJECT INTO e",
            "`e` has a value for each row of a group",
            "1:47 e to 1:47 e",
        ),
        (
            "FROM e IN events ORDER BY e.id GROUP BY e.type PROJECT INTO e.type",
            "`e.id` has a value for each row of a group",
            "1:27 e to 1:29 id",
        ),
    ] {
        let error = refused(query);
        assert!(error.kind().to_string().starts_with(message), "{error}");
        assert_eq!(place(&error), at, "{query}");
    }
}

#[tokio::test]
async fn what_cannot_be_computed_is_named() {
    for (expr, message, at) in [
        (
            "1 == '1'",
            "cannot compare a number with a string by `==`: convert one of them with AS",
            "1 to 1:36 '1'",
        ),
        (
            "true < false",
            "cannot compare a boolean with a boolean by `<`",
            "true to 1:38 false",
        ),
        (
            "[1] < [2]",
            "cannot compare an array with an array by `<`",
            "[ to 1:39 ]",
        ),
        ("NOT 1", "NOT needs a boolean, found a number", ""),
        ("NOT null", "NOT needs a boolean, found null", ""),
        (
            "1 AND true",
            "AND needs a boolean, found a number",
            "1 to 1:31 1",
        ),
        ("true XOR 'x'", "XOR needs a boolean, found a string", ""),
        (
            "IF('x', 1, 2)",
            "the condition of IF needs a boolean, found a string",
            "",
        ),
        (
            "1 + 'a'",
            "`+` needs numbers, found a string",
            "1 to 1:35 'a'",
        ),
        ("null + 'a'", "`+` needs numbers, found a string", ""),
        ("-'a'", "`-` needs numbers, found a string", "- to 1:32 'a'"),
        (
            "1 CONTAINS 1",
            "`CONTAINS` needs an array on its left, found a number",
            "",
        ),
        (
            "[1][true]",
            "`[]` needs a whole number or a string, found a boolean",
            "",
        ),
        (
            "LOWER(1)",
            "LOWER needs a string, found the number 1",
            "LOWER to 1:38 )",
        ),
        (
            "YEAR('2026-01-01')",
            "YEAR needs a date or a datetime, found a string",
            "",
        ),
        (
            "SUBSTRING('abc', 0)",
            "SUBSTRING needs a start from 1, found the number 0",
            "",
        ),
        (
            "'x' AS INT",
            "cannot convert \"x\" into INT",
            "'x' to 1:38 INT",
        ),
        ("[] AS STRING", "cannot convert an array into STRING", ""),
        ("9223372036854775807 + 1", "the result is out of range", ""),
        (
            "-(0 - 9223372036854775807 - 1)",
            "the result is out of range",
            "",
        ),
        ("SQRT(-1)", "the result is out of range", ""),
        ("1e308 * 10", "the result is out of range", ""),
        ("1 / 0", "division by zero", "1 to 1:35 0"),
        ("1.0 % 0", "division by zero", ""),
        (
            "SUM('a')",
            "SUM needs numbers, found a string",
            "SUM to 1:38 )",
        ),
        ("COUNT(1)", "COUNT needs a boolean, found a number", ""),
        (
            "MIN(true)",
            "MIN needs values that have an order, found a boolean",
            "",
        ),
    ] {
        let error = value(expr).await.unwrap_err();
        assert!(
            error.kind().to_string().starts_with(message),
            "{expr}: {error}"
        );
        assert!(place(&error).contains(at), "{expr}: {}", place(&error));
    }
}

#[tokio::test]
async fn what_a_row_makes_impossible_ends_the_answer_after_the_rows_before_it() {
    let source = data(&[r#"{"v":1}"#, r#"{"v":"x"}"#]).await;
    for (query, rows, message) in [
        (
            "FROM e IN events PROJECT INTO e.data.v + 1",
            1,
            "`+` needs numbers, found a string (line 1, column 31)",
        ),
        (
            "FROM e IN events WHERE e.data.v PROJECT INTO e",
            0,
            "WHERE needs a boolean, found a number (line 1, column 24)",
        ),
        (
            "FROM e IN events PROJECT INTO UNIQUE(e.data.v)",
            0,
            "UNIQUE needs one value in each group, found 1 and \"x\" (line 1, column 31)",
        ),
        (
            "FROM e IN events PROJECT INTO MAX(e.data.v)",
            0,
            "MAX needs values of one kind, found a string (line 1, column 31)",
        ),
        (
            "FROM e IN events GROUP BY e.id HAVING 1 PROJECT INTO 1",
            0,
            "HAVING needs a boolean, found a number (line 1, column 39)",
        ),
        (
            "FROM e IN events TOP 0 - 1 PROJECT INTO e",
            0,
            "TOP needs a whole number from 0, found -1 (line 1, column 22)",
        ),
        (
            "FROM e IN events SKIP '1' PROJECT INTO e",
            0,
            "SKIP needs a whole number from 0, found \"1\" (line 1, column 23)",
        ),
    ] {
        let (seen, error) = answer(&Query::parse(query).unwrap(), &source, true).await;
        assert_eq!(seen.len(), rows, "{query}");
        assert_eq!(error.unwrap().to_string(), message, "{query}");
    }
}

#[test]
fn an_error_has_the_shape_of_the_protocol() {
    let error = refused("FROM e IN events\nPROJECT INTO CUONT()");
    let payload = serde_json::to_value(error.payload()).unwrap();
    let token = serde_json::json!({"line": 2, "column": 14, "text": "CUONT", "type": "identifier"});
    let expected = serde_json::json!({
        "error": "unknown function `CUONT`: did you mean COUNT?",
        "startToken": token,
        "endToken": token,
    });
    assert_eq!(payload, expected);
    let without_place = refused(&" ".repeat(MAX_LENGTH + 1));
    let payload = serde_json::to_value(without_place.payload()).unwrap();
    assert_eq!(
        payload,
        serde_json::json!({"error": "the query has 65537 bytes, at most 65536 are read"})
    );
}

#[test]
fn no_depth_overflows_the_stack() {
    let of = |expr: String| format!("FROM e IN events PROJECT INTO {expr}");
    for deep in [
        format!("{}1{}", "(".repeat(9_000), ")".repeat(9_000)),
        format!("{}1{}", "[".repeat(9_000), "]".repeat(9_000)),
        "-".repeat(9_000),
        "NOT ".repeat(9_000),
        "{a:".repeat(9_000),
        "ABS(".repeat(9_000),
        "e[".repeat(9_000),
    ] {
        let error = refused(&of(deep));
        assert_eq!(
            error.kind().to_string(),
            "the query has more than 128 levels of nesting"
        );
    }
    for chain in ["1 + ".repeat(9_000), "true OR ".repeat(5_000)] {
        let error = refused(&of(format!("{chain}1")));
        assert_eq!(
            error.kind().to_string(),
            "the query has more than 256 operators in a chain"
        );
    }
    let error = refused(&of(format!("e{}", ".a".repeat(9_000))));
    assert_eq!(
        error.kind().to_string(),
        "the query has more than 256 operators in a chain"
    );
    let error = refused(&"FROM e IN (".repeat(5_000));
    assert_eq!(
        error.kind().to_string(),
        "the query has more than 8 queries within each other"
    );
    let error = refused(&"FROM e IN events ".repeat(3_000));
    assert_eq!(
        error.kind().to_string(),
        "the query has more than 8 FROM clauses"
    );
}
