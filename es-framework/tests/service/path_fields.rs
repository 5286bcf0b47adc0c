//! Fields of several words in the paths of queries. Clients see them in camel case.

use es_framework::ClientResponse;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::running_service::{RunningService, book};

async fn get(library: &RunningService, path: &str, position: &str) -> ClientResponse {
    let client = library.client.clone();
    let client = client.with_header("event-position".parse().unwrap(), position);
    client.get(path).await.unwrap()
}

#[tokio::test]
async fn a_path_has_fields_of_several_words() {
    let library = RunningService::start();
    let id = Uuid::new_v4();
    let bought = library.purchase(&book(id)).await;
    let position = bought.header("event-position").unwrap();
    let mut copy = book(id);
    copy["isLent"] = false.into();
    for (path, expected) in [
        ("/lengths/1178/books".to_owned(), json!({ "items": [copy] })),
        ("/lengths/7/books".to_owned(), json!({ "items": [] })),
        (format!("/lengths/1178/books/{id}"), copy.clone()),
        ("/lengths/1178/count".to_owned(), json!(1)),
    ] {
        let found = get(&library, &path, position).await;
        assert_eq!(found.status, 200, "{path}: {}", found.text());
        assert_eq!(found.json::<Value>().unwrap(), expected, "{path}");
    }
    for path in [
        format!("/lengths/7/books/{id}"),
        "/lengths/many/books".to_owned(),
        "/lengths/many/count".to_owned(),
    ] {
        assert_eq!(get(&library, &path, position).await.status, 404, "{path}");
    }
    for (query, detail) in [
        ("numPages=1178", "numPages is in the path"),
        ("num_pages=1178", "num_pages is unknown"),
    ] {
        let refused = get(&library, &format!("/lengths/1178/books?{query}"), position).await;
        assert_eq!(refused.status, 400, "{query}");
        let problem: Value = refused.json().unwrap();
        let found = problem["detail"].as_str().unwrap();
        assert!(found.contains(detail), "{found}");
    }
}

#[tokio::test]
async fn the_document_describes_each_field_in_a_path() {
    let library = RunningService::start();
    let document = library.client.get("/openapi.json").await.unwrap();
    let document: Value = document.json().unwrap();
    let mut lengths = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let segments = path.split('/');
        let fields = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let mut fields: Vec<_> = fields.collect();
        fields.sort_unstable();
        lengths += fields.iter().filter(|field| **field == "numPages").count();
        for (method, operation) in operations.as_object().unwrap() {
            let parameters = operation["parameters"].as_array();
            let parameters = parameters.into_iter().flatten();
            let in_path = parameters.filter(|parameter| parameter["in"] == "path");
            let names = in_path.map(|parameter| parameter["name"].as_str().unwrap());
            let mut names: Vec<_> = names.collect();
            names.sort_unstable();
            assert_eq!(names, fields, "{method} {path}");
        }
    }
    assert_eq!(lengths, 3);
}
