//! Tests of the EventQL editor.

use axum::{
    body::Body,
    http::{StatusCode, header},
};
use serde_json::json;

use super::{TestConsole, form};

const EDITOR: &str = "/console/eventql";

/// Runs a query with the credential of operators.
async fn run(console: &TestConsole, query: &str) -> (StatusCode, String) {
    let body = serde_urlencoded::to_string([("query", query)]).unwrap();
    let request = form(EDITOR).header(header::AUTHORIZATION, "Bearer secret");
    let (status, _, page) = console.send(request.body(Body::from(body)).unwrap()).await;
    (status, page)
}

/// Returns the cells of the table, row by row.
fn cells(page: &str) -> Vec<String> {
    let table = page.split("<table class=\"rows\">").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    let rows = table.split("<tr>").skip(1);
    let text = |row: &str| {
        let cells = row.replace("</th>", "|").replace("</td>", "|");
        let mut parts = cells.split('<');
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.filter_map(|part| part.split_once('>'));
        first + &rest.map(|(_, text)| text).collect::<String>()
    };
    rows.map(text).collect()
}

#[tokio::test]
async fn members_of_the_rows_are_columns_in_their_order() {
    let console = TestConsole::new(true).await;
    console
        .record("/books/1", json!({ "title": "The \"Hobbit\"" }))
        .await;
    console.record("/books/2", json!({ "pages": 1.50 })).await;
    let query =
        "FROM e IN events\r\nPROJECT INTO { z: e.subject, a: e.data.payload.title, n: [1] }";
    let (status, page) = run(&console, query).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(
        page.contains("2 rows") && page.contains("FROM e IN events\nPROJECT"),
        "{page}"
    );
    assert_eq!(
        cells(&page),
        [
            "z|a|n|",
            "/books/1|The \\&quot;Hobbit\\&quot;|[1]|",
            "/books/2|null|[1]|"
        ]
    );
    let (_, page) = run(
        &console,
        "FROM e IN events PROJECT INTO IF(e.id == '0', 'one', { b: 2 })",
    )
    .await;
    assert_eq!(cells(&page), ["b|value|", "|one|", "2||"]);
    let (_, page) = run(&console, "FROM e IN events WHERE false PROJECT INTO 1").await;
    assert!(
        page.contains("0 rows") && !page.contains("<table"),
        "{page}"
    );
}

#[tokio::test]
async fn more_rows_than_a_page_shows_are_left_out_with_a_note() {
    let console = TestConsole::new(true).await;
    let payloads = || (0..201).map(|number| json!({ "number": number }));
    console.record_all("/books/1", payloads()).await;
    let (status, page) = run(&console, "FROM e IN events PROJECT INTO e.id").await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        page.contains("The first 200 rows") && page.contains("SKIP 200"),
        "{page}"
    );
    assert_eq!(cells(&page).len(), 201);
    let (_, page) = run(&console, "FROM e IN events TOP 200 PROJECT INTO e.id").await;
    assert!(
        page.contains("200 rows") && !page.contains("There are more"),
        "{page}"
    );
    let large = json!({ "text": "x".repeat(900_000) });
    console.record_all("/large", vec![large; 6]).await;
    let (_, page) = run(
        &console,
        "FROM e IN events WHERE e.subject == '/large' PROJECT INTO e",
    )
    .await;
    assert!(
        page.contains("The first 5 rows") && page.contains("larger than 4 MB"),
        "{page}"
    );
    assert!(page.len() < 40_000, "{}", page.len());
}

#[tokio::test]
async fn an_error_is_shown_at_its_position() {
    let console = TestConsole::new(true).await;
    console.record("/books/1", json!({})).await;
    let (status, page) = run(&console, "FROM e IN events\nPROJECT INTO <b>").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        page.contains("Line 2, column 14") && page.contains("<mark>&lt;</mark>b&gt;"),
        "{page}"
    );
    // An error in a value comes after the rows before it.
    console.record("/books/1", json!({ "n": 0 })).await;
    let division = "FROM e IN events PROJECT INTO 1 / e.data.payload.n";
    let (status, page) = run(&console, division).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        page.contains("division by zero") && cells(&page).len() == 2,
        "{page}"
    );
    let (status, page) = run(&console, &" ".repeat(64 * 1024 + 1)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(page.contains("at most 65536"), "{page}");
    let (status, _) = run(&console, &"#".repeat(100_000)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn hostile_values_and_queries_stay_text() {
    let console = TestConsole::new(true).await;
    let hostile = "</td><script>alert(1)</script>\u{202e}";
    console
        .record(
            "/books/1",
            json!({ hostile: hostile, "long": "x".repeat(1_000_000) }),
        )
        .await;
    let queries = [
        "FROM e IN events PROJECT INTO e.data.payload".to_owned(),
        format!("FROM e IN events WHERE e.id == '{hostile}</textarea>' AND f PROJECT INTO e"),
    ];
    for query in queries {
        let (_, page) = run(&console, &query).await;
        assert!(
            !page.contains("<script>alert") && page.contains("\\u{202e}"),
            "{page}"
        );
        assert_eq!(page.matches("</textarea>").count(), 1, "{page}");
        assert!(page.len() < 20_000, "{}", page.len());
    }
}

#[tokio::test]
async fn queries_are_for_operators() {
    let console = TestConsole::new(true).await;
    let page = console.page(EDITOR).await;
    assert!(
        page.contains("to run queries") && !page.contains("type=\"submit\""),
        "{page}"
    );
    assert!(
        page.contains("60 seconds") && page.contains("STARTSWITH"),
        "{page}"
    );
    let reader = form(EDITOR).body(Body::from("query=x")).unwrap();
    let reader = console.with_session(reader);
    assert_eq!(console.send(reader).await.0, StatusCode::FORBIDDEN);
}
