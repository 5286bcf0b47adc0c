//! Properties of every query and every text.

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    answer,
    generate::{mutated, statement, words},
    source,
};
use crate::{EventQlQuery, ast::Statement, lexer, parser};
use es_store::EventLog;

fn read(text: &str) -> Statement {
    parser::parse_query(&lexer::tokenize(text).unwrap()).unwrap()
}

/// Asserts that the parser rejects the text, or reads the text and its canonical form alike.
fn is_refused_or_stable(text: &str) -> Option<EventQlQuery> {
    let query = EventQlQuery::parse(text).ok()?;
    let canonical = query.to_string();
    let again = EventQlQuery::parse(&canonical).unwrap();
    assert_eq!(*again.statement, *query.statement, "{text}");
    assert_eq!(again.to_string(), canonical);
    Some(query)
}

fn library() -> (tokio::runtime::Runtime, Arc<dyn EventLog>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let source = runtime.block_on(source(&[
        ("/a", "io.example.x", r#"{"v":1,"list":[1,2]}"#),
        ("/a", "io.example.y", r#"{"v":2.5}"#),
        ("/b", "io.example.x", r#"{"v":"text"}"#),
        ("/b/c", "io.example.x", r#"{"v":null,"list":{}}"#),
    ]));
    (runtime, source)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_printed_tree_is_read_as_the_same_tree(statement in statement()) {
        let text = statement.to_string();
        let again = read(&text);
        prop_assert_eq!(&again, &statement, "{}", text);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,80}") {
        is_refused_or_stable(&text);
        is_refused_or_stable(&format!("FROM e IN events PROJECT INTO {text}"));
    }
}

#[test]
fn no_words_make_the_parser_or_a_run_panic() {
    let (runtime, source) = library();
    proptest!(ProptestConfig::with_cases(2_000), |(text in words())| {
        for text in [format!("FROM e IN events {text}"), format!("FROM e IN events PROJECT INTO {text}")] {
            if let Some(query) = is_refused_or_stable(&text) {
                runtime.block_on(answer(&query, &source, true));
            }
        }
    });
}

#[test]
fn no_change_to_a_valid_query_makes_the_parser_or_a_run_panic() {
    let (runtime, source) = library();
    proptest!(ProptestConfig::with_cases(4_000), |(text in mutated())| {
        if let Some(query) = is_refused_or_stable(&text) {
            let (rows, error) = runtime.block_on(answer(&query, &source, true));
            let (without_hints, other) = runtime.block_on(answer(&query, &source, false));
            if !text.to_lowercase().contains("now") && !text.to_lowercase().contains("rand") {
                prop_assert_eq!(rows, without_hints);
                let text = |error: Option<crate::QueryError>| error.map(|it| it.to_string());
                prop_assert_eq!(text(error), text(other));
            }
        }
    });
}
