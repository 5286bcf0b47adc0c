//! Invalid queries and expressions, each with its error message and the words to which the error points.

/// A query or an expression, its error message, and the position of the error.
type Case = (&'static str, &'static str, &'static str);

pub(super) const NO_WORDS: &[Case] = &[
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
];

pub(super) const OUT_OF_PLACE: &[Case] = &[
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
];

pub(super) const WITHOUT_ANSWER: &[Case] = &[
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
];

pub(super) const NOT_COMPUTABLE: &[Case] = &[
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
];
