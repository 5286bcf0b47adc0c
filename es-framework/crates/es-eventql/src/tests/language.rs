//! Operators, conversions, functions, aggregates and clauses.

use super::{EventParts, data, rows, source, value};

async fn all_give(cases: &[(&str, &str)]) {
    for (expr, expected) in cases {
        assert_eq!(value(expr).await.unwrap(), *expected, "{expr}");
    }
}

#[tokio::test]
async fn numbers_are_exact_where_they_are_whole() {
    all_give(&[
        ("9223372036854775806 + 1", "9223372036854775807"),
        ("7 / 2", "3.5"),
        ("6 / 2", "3"),
        ("7 % 4", "3"),
        ("-7 % 4", "-3"),
        ("7.5 % 2", "1.5"),
        ("1 + 0.5", "1.5"),
        ("1 == 1.0", "true"),
        ("9007199254740993 == 9007199254740992.0", "false"),
        ("9007199254740993 > 9007199254740992.0", "true"),
        ("+1 - -1", "2"),
        ("1e3", "1000"),
        ("1e300", "1e+300"),
    ])
    .await;
}

#[tokio::test]
async fn null_is_equal_to_itself_only_and_has_no_order() {
    all_give(&[
        ("null == null", "true"),
        ("null != null", "false"),
        ("1 == null", "false"),
        ("'a' != null", "true"),
        ("null < 1", "false"),
        ("null >= null", "false"),
        ("null + 1", "null"),
        ("-null", "null"),
        ("null AS INT", "null"),
        ("LOWER(null)", "null"),
        ("null CONTAINS 1", "false"),
        ("[null] CONTAINS null", "true"),
        ("e.data.nothing.at[0].all", "null"),
    ])
    .await;
}

#[tokio::test]
async fn logic_stops_at_the_side_that_decides() {
    all_give(&[
        ("false AND 1 / 0 == 1", "false"),
        ("true OR 1 / 0 == 1", "true"),
        ("true XOR true", "false"),
        ("true XOR false", "true"),
        ("IF(true, 1, 1 / 0)", "1"),
        ("NOT false AND false", "false"),
        ("true OR true AND false", "true"),
        ("true XOR true OR true", "true"),
    ])
    .await;
}

#[tokio::test]
async fn arrays_and_records_are_compared_by_what_they_hold() {
    all_give(&[
        ("[1, 'a', null] == [1.0, 'a', null]", "true"),
        ("{ a: 1, b: 2 } == { b: 2, a: 1 }", "true"),
        ("{ a: 1 } == { a: '1' }", "false"),
        ("[1, 2] CONTAINS 2.0", "true"),
        ("[1, 2] CONTAINS '2'", "false"),
        ("[[1], [2]] CONTAINS [2]", "true"),
        ("{ a: [1, 2] }.a[1]", "2"),
        ("{}", "{}"),
        ("[]", "[]"),
        (r#"{ "a-b": 1, order: 2 }"#, r#"{"a-b":1,"order":2}"#),
        (r#""\u0041\n\"\ud83d\ude00""#, r#""A\n\"😀""#),
        (r"'it\'s'", r#""it's""#),
    ])
    .await;
}

#[tokio::test]
async fn values_are_converted_only_when_asked() {
    all_give(&[
        ("'42' AS INT", "42"),
        ("'-42' AS INT", "-42"),
        ("2.9 AS INT", "2"),
        ("(-2.9) AS INT", "-2"),
        ("'1.5' AS FLOAT", "1.5"),
        ("3 AS FLOAT / 2", "1.5"),
        ("1.5 AS STRING", r#""1.5""#),
        ("true AS STRING", r#""true""#),
        ("'TRUE' AS BOOL", "true"),
        ("'2026-11-20' AS DATE", r#""2026-11-20""#),
        ("'2026-11-20T23:30:00+01:00' AS DATE", r#""2026-11-20""#),
        ("'2026-11-20T23:30:00-01:00' AS DATE", r#""2026-11-21""#),
        ("'2026-11-20T23:30:00.5Z' AS TIME", r#""23:30:00.5""#),
        ("'12:30' AS TIME", r#""12:30:00""#),
        ("'2026-11-20' AS DATETIME", r#""2026-11-20T00:00:00Z""#),
        (
            "'2026-11-20' AS DATE AS DATETIME AS STRING",
            r#""2026-11-20T00:00:00Z""#,
        ),
        (
            "'2026-11-20T00:00:00.5Z' AS DATETIME > '2026-11-20T00:00:00Z' AS DATETIME",
            "true",
        ),
        ("e.time AS DATETIME <= NOW()", "true"),
        ("NOW() == NOW()", "true"),
    ])
    .await;
    for failing in [
        "'inf' AS FLOAT",
        "'' AS INT",
        "1e30 AS INT",
        "1 AS BOOL",
        "true AS INT",
        "'x' AS DATE",
        "'2026-11-20' AS TIME",
        "'25:00' AS TIME",
        "1 AS DATETIME",
    ] {
        assert!(value(failing).await.is_err(), "{failing}");
    }
}

#[tokio::test]
async fn every_function_does_what_its_name_says() {
    all_give(&[
        ("[ABS(-2), ABS(-1.5)]", "[2,1.5]"),
        ("[CEIL(1.2), FLOOR(-1.2), ROUND(2.5), ROUND(3)]", "[2,-2,3,3]"),
        ("[COS(0), EXP(0), SQRT(9), POW(2, 10), POW(2, -1)]", "[1,1,3,1024,0.5]"),
        ("RAND() >= 0 AND RAND() < 1", "true"),
        ("PI()", "3.141592653589793"),
        ("[LOWER('ÄB'), UPPER('äb')]", r#"["äb","ÄB"]"#),
        ("[TRIM(' a '), LTRIM(' a '), RTRIM(' a ')]", r#"["a","a "," a"]"#),
        ("[LEN('äb'), LEN([1, 2, 3])]", "[2,3]"),
        ("[INSTR('äbc', 'c'), INSTR('abc', 'x')]", "[3,0]"),
        ("[SUBSTRING('äbc', 2), SUBSTRING('äbc', 2, 1), SUBSTRING('abc', 9)]", r#"["bc","b",""]"#),
        ("[REPLACE('aXbX', 'X', '-'), REPLACE('a', '', '-')]", r#"["a-b-","a"]"#),
        ("[STARTSWITH('abc', 'ab'), ENDSWITH('abc', 'ab')]", "[true,false]"),
        ("[YEAR('2026-11-22' AS DATE), MONTH('2026-11-22' AS DATE), DAY('2026-11-22' AS DATE), WEEKDAY('2026-11-22' AS DATE)]", "[2026,11,22,0]"),
        ("[HOUR('01:02:03' AS TIME), MINUTE('01:02:03' AS TIME), SECOND('2026-01-01T01:02:03Z' AS DATETIME)]", "[1,2,3]"),
        ("IF(1 < 2, 'yes', 'no')", r#""yes""#),
    ])
    .await;
}

#[tokio::test]
async fn aggregates_pass_over_null() {
    let numbers = data(&[
        r#"{"v":4}"#,
        r#"{"v":1}"#,
        r#"{"v":null}"#,
        "{}",
        r#"{"v":2.5}"#,
        r#"{"v":4}"#,
    ])
    .await;
    let none = data(&[]).await;
    for (aggregate, of_numbers, of_none) in [
        ("COUNT()", "6", "0"),
        ("COUNT(e.data.v != null)", "4", "0"),
        ("COUNT(e.data.missing)", "0", "0"),
        ("SUM(e.data.v)", "11.5", "0"),
        ("AVG(e.data.v)", "2.875", "null"),
        ("MIN(e.data.v)", "1", "null"),
        ("MAX(e.data.v)", "4", "null"),
        ("MEDIAN(e.data.v)", "3.25", "null"),
        ("VARIANCE(e.data.v)", "1.546875", "null"),
        ("STDDEV(e.data.v)", "1.243734296383275", "null"),
        ("UNIQUE(e.subject)", r#""/a""#, "null"),
        ("MAX(e.data.v) - MIN(e.data.v) > 2", "true", "false"),
    ] {
        let query = format!("FROM e IN events PROJECT INTO {aggregate}");
        assert_eq!(rows(&query, &numbers).await, [of_numbers], "{query}");
        assert_eq!(rows(&query, &none).await, [of_none], "{query}");
    }
}

const LIBRARY: [EventParts<'static>; 5] = [
    ("/b/1", "io.example.bought", r#"{"pages":100,"kind":"a"}"#),
    ("/b/2", "io.example.bought", r#"{"pages":300,"kind":"b"}"#),
    ("/b/1", "io.example.lent", r#"{"to":"x"}"#),
    ("/b/3", "io.example.bought", r#"{"pages":200,"kind":"a"}"#),
    ("/b/1", "io.example.returned", "{}"),
];

async fn library(cases: &[(&str, &[&str])]) {
    let source = source(&LIBRARY).await;
    for (query, expected) in cases {
        assert_eq!(rows(query, &source).await, *expected, "{query}");
    }
}

#[tokio::test]
async fn groups_come_in_the_order_of_their_first_rows() {
    library(&[
        ("FROM e IN events GROUP BY e.type PROJECT INTO { type: UNIQUE(e.type), n: COUNT() }",
         &[r#"{"type":"io.example.bought","n":3}"#, r#"{"type":"io.example.lent","n":1}"#, r#"{"type":"io.example.returned","n":1}"#]),
        ("FROM e IN events GROUP BY e.subject HAVING COUNT() > 1 PROJECT INTO e.subject", &[r#""/b/1""#]),
        ("FROM e IN events GROUP BY e.data.kind ORDER BY SUM(e.data.pages) DESC PROJECT INTO [e.data.kind, SUM(e.data.pages)]",
         &[r#"["a",300]"#, r#"["b",300]"#, "[null,0]"]),
        ("FROM e IN events ORDER BY COUNT() DESC, e.subject DESC GROUP BY e.subject SKIP 1 TOP 1 PROJECT INTO e.subject", &[r#""/b/3""#]),
        ("FROM e IN events GROUP BY e.subject, e.type PROJECT INTO COUNT()", &["1"; 5]),
        ("FROM e IN events WHERE false GROUP BY e.type PROJECT INTO COUNT()", &[]),
        ("FROM e IN events TOP 0 PROJECT INTO COUNT()", &[]),
        ("FROM e IN events GROUP BY 1 PROJECT INTO COUNT()", &["5"]),
    ])
    .await;
}

#[tokio::test]
async fn rows_are_sorted_and_cut() {
    library(&[
        (
            "FROM e IN events SKIP 1 TOP 2 PROJECT INTO e.id",
            &[r#""1""#, r#""2""#],
        ),
        (
            "FROM e IN events TOP 2 SKIP 1 PROJECT INTO e.id",
            &[r#""1""#, r#""2""#],
        ),
        (
            "FROM e IN events TOP 1 + 1 PROJECT INTO e.id AS INT",
            &["0", "1"],
        ),
        ("FROM e IN events SKIP 9 PROJECT INTO e.id", &[]),
        (
            "FROM e IN events ORDER BY e.data.pages PROJECT INTO e.data.pages",
            &["null", "null", "100", "200", "300"],
        ),
        (
            "FROM e IN events ORDER BY e.data.pages DESC TOP 2 PROJECT INTO e.data.pages",
            &["300", "200"],
        ),
        (
            "FROM e IN events ORDER BY e.subject ASC, e.id AS INT DESC PROJECT INTO e.id AS INT",
            &["4", "2", "0", "1", "3"],
        ),
        (
            "FROM e IN events ORDER BY e.id AS INT DESC SKIP 1 TOP 2 PROJECT INTO e.id AS INT",
            &["3", "2"],
        ),
        (
            "FROM e IN events PROJECT INTO DISTINCT e.subject",
            &[r#""/b/1""#, r#""/b/2""#, r#""/b/3""#],
        ),
        (
            "FROM e IN events ORDER BY e.subject DESC SKIP 1 TOP 1 PROJECT INTO DISTINCT e.subject",
            &[r#""/b/2""#],
        ),
    ])
    .await;
}

#[tokio::test]
async fn several_sources_give_every_combination() {
    library(&[
        ("FROM e IN events FROM f IN events PROJECT INTO COUNT()", &["25"]),
        ("FROM e IN events FROM f IN events WHERE e.subject == f.subject AND e.type == 'io.example.bought' AND f.type == 'io.example.lent' PROJECT INTO [e.id, f.id]", &[r#"["0","2"]"#]),
        ("FROM s IN subjects FROM t IN eventtypes TOP 2 PROJECT INTO [s, t]", &[r#"["/","io.example.bought"]"#, r#"["/","io.example.lent"]"#]),
        ("FROM r IN (FROM e IN events GROUP BY e.subject PROJECT INTO { s: e.subject, n: COUNT() }) WHERE r.n > 1 PROJECT INTO r", &[r#"{"s":"/b/1","n":3}"#]),
        ("FROM r IN (FROM e IN events PROJECT INTO e) WHERE r.data.pages > 100 PROJECT INTO r.id", &[r#""1""#, r#""3""#]),
        ("FROM e IN events FROM n IN (FROM x IN events WHERE false PROJECT INTO x) PROJECT INTO 1", &[]),
    ])
    .await;
}
