//! Requests that are no HTTP never fail the service, and texts are stored unchanged.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use crate::support::{Library, book, client, json_of, raw_http};
use reqwest::StatusCode;
use uuid::Uuid;

async fn still_works(library: &Library) {
    assert_eq!(
        library.purchase(&book(Uuid::new_v4())).await.status(),
        StatusCode::CREATED
    );
    assert_eq!(library.health().await.0, StatusCode::OK);
    assert!(
        !library.process.log().contains("panicked"),
        "{}",
        library.process.log()
    );
}

#[tokio::test]
async fn what_is_no_http_costs_a_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let address = library.url.strip_prefix("http://").unwrap();
    let huge_header = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let lying_length = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999999999999999\r\n\r\n";
    let smuggling = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    for bytes in [
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        &huge_header,
        &many_headers,
        lying_length,
        smuggling,
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let _ = stream.write_all(bytes.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    still_works(&library).await;
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    for (head, status) in [
        ("GET /books HTTP/1.1\r\n", 400),
        ("GET /books HTTP/1.1\r\nhost: a\r\nhost: b\r\n", 400),
        ("GET /books HTTP/1.1\r\nhost: a\r\nhost: a\r\n", 400),
        ("GET /docs HTTP/1.1\r\n", 400),
        ("GET /books HTTP/1.0\r\nhost: a\r\nhost: a\r\n", 400),
        ("GET /books HTTP/1.0\r\n", 200),
        ("GET /books HTTP/1.1\r\nhost: localhost\r\n", 200),
    ] {
        let request = format!("{head}connection: close\r\n\r\n");
        let response = raw_http::send(&library.url, request).unwrap();
        assert_eq!(response.status, status, "{head}");
        if status == 400 {
            assert_eq!(response.problem(), "invalid-header");
        }
    }
}

#[tokio::test]
async fn texts_are_stored_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let mut given = book(Uuid::new_v4());
    given["title"] = "  Größe & <Zeit> \"😀\" \u{2028} \\ ".into();
    given["isbn"] = "0-345-53943-X".into();
    given["numPages"] = i64::MAX.into();
    assert_eq!(library.purchase(&given).await.status(), StatusCode::CREATED);
    let [stored] = library.stored_lines().await.try_into().unwrap();
    assert_eq!(stored["payload"]["event"]["data"]["payload"], given);
    let request = client()
        .get(format!("{}/books", library.url))
        .header("event-position", "0");
    let stock = json_of(request.send().await.unwrap()).await;
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&stock["items"][0][name], value, "{name}");
    }
}
