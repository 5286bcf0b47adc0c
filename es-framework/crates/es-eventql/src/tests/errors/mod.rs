//! Every error, with the words to which it points.

mod cases;

use super::{answer, data, value};
use crate::{EventQlQuery, MAX_LENGTH, QueryError};
use cases::{NO_WORDS, NOT_COMPUTABLE, OUT_OF_PLACE, WITHOUT_ANSWER};

fn refused(query: &str) -> QueryError {
    match EventQlQuery::parse(query) {
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
    for (query, message, at) in NO_WORDS.iter().copied() {
        let error = refused(query);
        assert!(error.kind().to_string().starts_with(message), "{error}");
        assert_eq!(place(&error), at, "{query}");
    }
}

#[test]
fn what_does_not_belong_there_is_named() {
    for (query, message, at) in OUT_OF_PLACE.iter().copied() {
        let error = refused(query);
        assert_eq!(error.kind().to_string(), message);
        assert_eq!(place(&error), at, "{query}");
    }
}

#[test]
fn what_cannot_have_an_answer_is_named() {
    for (query, message, at) in WITHOUT_ANSWER.iter().copied() {
        let error = refused(query);
        assert!(error.kind().to_string().starts_with(message), "{error}");
        assert_eq!(place(&error), at, "{query}");
    }
}

#[tokio::test]
async fn what_cannot_be_computed_is_named() {
    for (expr, message, at) in NOT_COMPUTABLE.iter().copied() {
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
        let (seen, error) = answer(&EventQlQuery::parse(query).unwrap(), &source, true).await;
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

#[tokio::test]
async fn what_is_just_not_too_deep_runs() {
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    assert_eq!(value(&deep).await.unwrap(), deep);
    let chain = format!("{}1", "1 + ".repeat(255));
    assert_eq!(value(&chain).await.unwrap(), "256");
    let mut query = "FROM e IN events PROJECT INTO 1".to_owned();
    for _ in 0..8 {
        query = format!("FROM e IN ({query}) PROJECT INTO e");
    }
    assert_eq!(super::rows(&query, &data(&["{}"]).await).await, ["1"]);
}
