//! Validation rules reject requests and appear in the JSON schema.

use crate::orders_service::OrdersService;
use es_framework::command::CommandDescriptor;
use schemars::SchemaGenerator;
use serde_json::{Value, json};

#[allow(dead_code, reason = "only what is declared there is looked at")]
#[path = "../../src/bin/orders.rs"]
mod orders;

impl OrdersService {
    /// Sends an order and returns the status and the body of the response.
    fn place(&self, order: &Value) -> (u16, Value) {
        self.post("/orders/place", &order.to_string())
    }
}

fn order() -> Value {
    json!({
        "id": "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
        "shop": "Corner",
        "offer": "https://example.com/1",
        "answerTo": "reader@example.com",
        "tags": ["new"],
        "lines": [{ "isbn": "978-0-345-53943-1", "numCopies": 2 }],
        "delivery": { "sent": { "to": "Ann", "address": { "kind": "street", "name": "High" } } },
    })
}

#[test]
fn all_that_a_request_breaks_is_told_at_once_with_its_places() {
    let service = OrdersService::start(&[]);
    let (status, problem) = service.place(&json!({
        "id": "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
        "shop": "C",
        "offer": "http://example.com/1",
        "answerTo": "nobody",
        "tags": ["new", "", "NEW", "old"],
        "lines": [
            { "isbn": "978-0-345-53943-1", "numCopies": 0 },
            { "isbn": "0-345", "numCopies": 1 },
        ],
        "delivery": { "sent": { "to": " ", "address": { "kind": "box", "number": 0 } } },
    }));
    assert_eq!(status, 422, "{problem}");
    let errors = problem["errors"].as_array().unwrap().iter();
    let found: Vec<_> = errors
        .map(|error| {
            (
                error["pointer"].as_str().unwrap(),
                error["message"].as_str().unwrap(),
            )
        })
        .collect();
    let told = [
        ("/shop", "must have at least 2 characters, not 1"),
        ("/offer", "must begin with https://"),
        (
            "/answerTo",
            "must be an e-mail address such as reader@example.com: value is missing `@`",
        ),
        ("/tags", "must have at most 3 items, not 4"),
        ("/tags/1", "must not be blank"),
        (
            "/tags/2",
            "must hold only the characters \"abcdefghijklmnopqrstuvwxyz \", not 'N'",
        ),
        ("/lines/0/numCopies", "must be at least 1, not 0"),
        ("/lines/1/isbn", "must match ^97[89]-[0-9-]{10,13}$"),
        ("/delivery/sent/to", "must not be blank"),
        ("/delivery/sent/address/number", "must be at least 1, not 0"),
    ];
    assert_eq!(found, told);
    assert_eq!(service.place(&order()).0, 201, "nothing of it was stored");
}

#[test]
fn a_member_that_nobody_declares_is_told_at_its_place() {
    let service = OrdersService::start(&[]);
    for place in ["", "/lines/0", "/delivery/sent", "/delivery/sent/address"] {
        let mut order = order();
        order.pointer_mut(place).unwrap()["colour"] = "red".into();
        let (status, problem) = service.place(&order);
        assert_eq!(status, 422, "{problem}");
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{problem}");
        assert_eq!(errors[0]["pointer"], format!("{place}/colour"));
    }
    assert_eq!(service.place(&order()).0, 201);
}

#[test]
fn a_member_that_stands_in_a_request_twice_is_told_at_its_place() {
    let service = OrdersService::start(&[]);
    for (place, once, twice) in [
        ("/shop", r#""shop":"#, r#""shop":"A","shop":"#),
        (
            "/lines/0/isbn",
            r#""isbn":"#,
            r#""\u0069sbn":"978-0-345-53943-2","isbn":"#,
        ),
        ("/note", "{", r#"{"note":{"a":1},"note":{"a":2},"#),
        ("/note/0/a", "{", r#"{"note":[{"a":1,"b":0,"a":2}],"#),
        ("/codes/a~1b", "{", r#"{"codes":{"a/b":1,"a/b":1},"#),
        (
            "/counts/8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
            "{",
            r#"{"counts":{"8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2":1,"8D1AC1A5-4E9C-4B63-92FC-6E2A3D0AC1F2":2},"#,
        ),
    ] {
        let order = order().to_string().replacen(once, twice, 1);
        let (status, problem) = service.post("/orders/place", &order);
        assert_eq!(status, 422, "{order}: {problem}");
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{problem}");
        assert_eq!(errors[0]["pointer"], place);
    }
    let apart = r#"{"note":[{"a":1},{"a":2}],"codes":{"a":1,"A":1},"#;
    let order = order().to_string().replacen('{', apart, 1);
    assert_eq!(service.post("/orders/place", &order).0, 201);
}

#[test]
fn integers_are_accepted_in_every_spelling_that_the_schema_allows() {
    let service = OrdersService::start(&[]);
    for (number, copies) in ["2.0", "2e0", "0.2e1"].into_iter().enumerate() {
        let order = order()
            .to_string()
            .replace(r#""numCopies":2"#, &format!(r#""numCopies":{copies}"#));
        assert!(order.contains(copies), "{order}");
        let order = order.replace("8d1ac1a5", &format!("8d1ac1a{number}"));
        let (status, problem) = service.post("/orders/place", &order);
        assert_eq!(status, 201, "{problem}");
    }
    let order = order()
        .to_string()
        .replace(r#""numCopies":2"#, r#""numCopies":2.5"#);
    let (status, problem) = service.post("/orders/place", &order);
    assert_eq!(
        (status, &problem["errors"][0]["pointer"]),
        (422, &json!("/lines/0/numCopies"))
    );
}

#[test]
fn a_large_request_is_not_answered_with_a_larger_one() {
    let service = OrdersService::start(&[]);
    let mut order = order();
    order["lines"] = vec![json!({ "isbn": "", "numCopies": 0 }); 10_000].into();
    let (status, problem) = service.place(&order);
    assert_eq!(status, 422);
    assert_eq!(problem["errors"].as_array().unwrap().len(), 100);
}

#[test]
fn clients_read_the_rules_in_the_schema() {
    let mut generator = SchemaGenerator::default();
    let schema = CommandDescriptor::of::<orders::PlaceOrderCommand>().schema;
    schema(&mut generator);
    let values = generator.definitions();
    let members = &values["PlaceOrderCommand"]["properties"];
    assert_eq!(members["shop"]["minLength"], 2);
    assert_eq!(members["shop"]["maxLength"], 200);
    assert_eq!(members["offer"]["format"], "uri");
    assert_eq!(members["offer"]["maxLength"], 2_000);
    assert_eq!(members["answerTo"]["format"], "email");
    assert_eq!(members["tags"]["maxItems"], 3);
    assert_eq!(members["tags"]["items"]["maxLength"], 20);
    assert_eq!(members["lines"]["minItems"], 1);
    let copies = &values["OrderLine"]["properties"]["numCopies"];
    assert_eq!(
        (&copies["minimum"], &copies["maximum"]),
        (&json!(1), &json!(99))
    );
    assert_eq!(values["Isbn"]["pattern"], "^97[89]-[0-9-]{10,13}$");
    let sent = &values["Delivery"]["oneOf"][1]["properties"]["sent"];
    assert_eq!(sent["properties"]["to"]["maxLength"], 100);
    let by_box = &values["Address"]["oneOf"][1]["properties"]["number"];
    assert_eq!(by_box["minimum"], 1, "{}", values["Address"]);
}
