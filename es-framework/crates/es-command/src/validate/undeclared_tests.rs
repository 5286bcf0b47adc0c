//! A request with a member that no type declares is refused, wherever the member stands.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value as Json, json};

use super::{Validate as _, Violations};
use crate::prelude::*;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Value)]
struct Line {
    #[serde(alias = "number")]
    num_copies: u8,
}

#[derive(Value)]
enum ExternallyTaggedEnum {
    Nothing,
    #[serde(alias = "parcel")]
    Package {
        line: Line,
    },
    Wrapped(Line),
    Pair(Line, u8),
}

#[derive(Value)]
#[serde(tag = "kind")]
enum InternallyTaggedEnum {
    Nothing,
    Package { line: Line },
    Wrapped(Box<Line>),
    Other(BTreeMap<String, u8>),
}

#[derive(Value)]
#[serde(tag = "kind", content = "with")]
enum AdjacentlyTaggedEnum {
    Nothing,
    Package { line: Line },
    Wrapped(Line),
}

#[derive(Value)]
#[serde(untagged)]
enum UntaggedEnum {
    Package { line: Line },
    Wrapped(Line),
    Number(u8),
}

#[derive(Value)]
struct Address {
    town: String,
}

#[derive(Value)]
struct FlatStruct {
    id: u8,
    #[serde(flatten)]
    address: Address,
    #[serde(flatten)]
    kind: InternallyTaggedEnum,
}

#[derive(Value)]
struct OpenStruct {
    id: u8,
    #[serde(flatten)]
    others: HashMap<String, String>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Value)]
struct Shelf {
    lines: Vec<Line>,
    by_name: BTreeMap<String, Line>,
}

#[derive(Value)]
#[serde(transparent)]
struct TransparentStruct {
    line: Line,
}

#[derive(Value)]
struct ConvertedStruct {
    #[serde(deserialize_with = "from_list")]
    line: Line,
}

fn from_list<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Line, D::Error> {
    let [num_copies] = serde::Deserialize::deserialize(deserializer)?;
    Ok(Line { num_copies })
}

#[derive(Value, Default)]
#[allow(dead_code, reason = "only its shape matters")]
struct Order {
    #[serde(default)]
    line: Option<Line>,
    #[serde(default, alias = "items")]
    lines: Vec<Line>,
    #[serde(default)]
    by_name: BTreeMap<String, Line>,
    #[serde(default)]
    by_id: HashMap<Uuid, Line>,
    #[serde(default)]
    pair: Option<(u8, Line)>,
    #[serde(default)]
    array: Option<[Line; 2]>,
    #[serde(default)]
    set: BTreeSet<Line>,
    #[serde(default)]
    shelves: BTreeSet<Shelf>,
    #[serde(default)]
    external: Option<ExternallyTaggedEnum>,
    #[serde(default)]
    internal: Option<InternallyTaggedEnum>,
    #[serde(default)]
    adjacent: Option<AdjacentlyTaggedEnum>,
    #[serde(default)]
    untagged: Option<UntaggedEnum>,
    #[serde(default)]
    flat: Option<FlatStruct>,
    #[serde(default)]
    open: Option<OpenStruct>,
    #[serde(default)]
    transparent: Option<TransparentStruct>,
    #[serde(default)]
    converted: Option<ConvertedStruct>,
    #[serde(default)]
    any: Json,
    #[serde(default)]
    large: Option<u128>,
    #[serde(default)]
    at: Vec<Timestamp>,
}

/// Validates a request and returns the pointers and messages of its violations.
fn violations(body: &str) -> Vec<(String, String)> {
    let order: Order = serde_json::from_str(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    let mut violations = Violations::of_request(body.as_bytes());
    order.validate(&mut violations);
    let violations = violations.into_vec().into_iter();
    violations
        .map(|violation| (violation.pointer, violation.message))
        .collect()
}

fn pointers(body: &Json) -> Vec<String> {
    let violations = violations(&body.to_string()).into_iter();
    violations.map(|(pointer, _)| pointer).collect()
}

/// Returns requests of every container, each with a pointer to an object.
fn requests_of_containers() -> Vec<(Json, &'static str)> {
    let line = || json!({ "numCopies": 1 });
    let id = "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2";
    vec![
        (json!({ "line": line() }), "/line"),
        (json!({ "line": { "number": 1 } }), "/line"),
        (json!({ "lines": [line(), line()] }), "/lines/1"),
        (json!({ "items": [line(), line()] }), "/items/1"),
        (
            json!({ "byName": { "a/b": line(), "c": line() } }),
            "/byName/a~1b",
        ),
        (
            json!({ "byId": { id: line() } }),
            "/byId/8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
        ),
        (
            json!({ "byId": { id.to_uppercase(): line() } }),
            "/byId/8D1AC1A5-4E9C-4B63-92FC-6E2A3D0AC1F2",
        ),
        (json!({ "pair": [1, line()] }), "/pair/1"),
        (json!({ "array": [line(), line()] }), "/array/1"),
        (json!({ "set": [line(), { "numCopies": 0 }] }), "/set/0"),
        (
            json!({ "shelves": [{ "lines": [line()], "byName": {} }] }),
            "/shelves/0",
        ),
        (
            json!({ "shelves": [{ "lines": [line()], "byName": {} }] }),
            "/shelves/0/lines/0",
        ),
        (
            json!({ "shelves": [{ "lines": [], "byName": { "x": line() } }] }),
            "/shelves/0/byName/x",
        ),
    ]
}

/// Returns requests of every representation of an enum, and of flattened values.
fn requests_of_enums() -> Vec<(Json, &'static str)> {
    let line = || json!({ "numCopies": 1 });
    vec![
        (
            json!({ "external": { "package": { "line": line() } } }),
            "/external/package",
        ),
        (
            json!({ "external": { "parcel": { "line": line() } } }),
            "/external/parcel",
        ),
        (
            json!({ "external": { "parcel": { "line": line() } } }),
            "/external/parcel/line",
        ),
        (
            json!({ "external": { "wrapped": line() } }),
            "/external/wrapped",
        ),
        (
            json!({ "external": { "pair": [line(), 1] } }),
            "/external/pair/0",
        ),
        (json!({ "internal": { "kind": "nothing" } }), "/internal"),
        (
            json!({ "internal": { "kind": "package", "line": line() } }),
            "/internal",
        ),
        (
            json!({ "internal": { "kind": "package", "line": line() } }),
            "/internal/line",
        ),
        (
            json!({ "internal": { "kind": "wrapped", "numCopies": 1 } }),
            "/internal",
        ),
        (json!({ "adjacent": { "kind": "nothing" } }), "/adjacent"),
        (
            json!({ "adjacent": { "kind": "package", "with": { "line": line() } } }),
            "/adjacent",
        ),
        (
            json!({ "adjacent": { "kind": "package", "with": { "line": line() } } }),
            "/adjacent/with",
        ),
        (
            json!({ "adjacent": { "kind": "wrapped", "with": line() } }),
            "/adjacent/with",
        ),
        (json!({ "untagged": { "line": line() } }), "/untagged"),
        (json!({ "untagged": { "line": line() } }), "/untagged/line"),
        (json!({ "untagged": { "numCopies": 1 } }), "/untagged"),
        (
            json!({ "flat": { "id": 1, "town": "Bree", "kind": "nothing" } }),
            "/flat",
        ),
        (
            json!({ "flat": { "id": 1, "town": "Bree", "kind": "package", "line": line() } }),
            "/flat/line",
        ),
        (json!({ "transparent": line() }), "/transparent"),
    ]
}

#[test]
fn an_undeclared_member_is_refused_in_every_container_and_told_at_its_place() {
    let requests = requests_of_containers().into_iter();
    for (mut request, place) in requests.chain(requests_of_enums()) {
        assert_eq!(pointers(&request), [""; 0], "{request}");
        let object = request.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert("col/our".to_owned(), json!({ "of": 1 }));
        assert_eq!(
            pointers(&request),
            [format!("{place}/col~1our")],
            "{request}"
        );
    }
}

#[test]
fn the_message_names_the_members_that_are_expected() {
    let message = |request: Json| violations(&request.to_string()).remove(0).1;
    assert_eq!(
        message(json!({ "line": { "numCopies": 1, "copies": 2 } })),
        "unknown member: expected one of `numCopies`, `number`"
    );
    assert_eq!(
        message(json!({ "internal": { "kind": "nothing", "line": 2 } })),
        "unknown member: expected `kind`"
    );
}

#[test]
fn members_that_nobody_can_declare_are_accepted() {
    for request in [
        json!({ "open": { "id": 1, "colour": "red" } }),
        json!({ "internal": { "kind": "other", "colour": 1 } }),
        json!({ "any": { "colour": [{ "of": 1 }] } }),
        json!({ "converted": { "line": [1] } }),
        json!({ "external": "nothing" }),
        json!({ "untagged": 7 }),
    ] {
        assert_eq!(pointers(&request), [""; 0], "{request}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let request = json!({
        "lines": [{ "numCopies": 1, "a": 1, "b": 2 }],
        "internal": { "kind": "nothing", "c": 3 },
        "at": ["-000001-01-01T00:00:00Z"],
    });
    let told = ["/lines/0/a", "/lines/0/b", "/internal/c", "/at/0"];
    assert_eq!(pointers(&request), told);
}

#[test]
fn an_integer_that_any_json_would_round_is_refused() {
    let large = "18446744073709551616";
    let told = violations(&format!(
        r#"{{"any":{{"a/b":[1,{large},18446744073709551615,-9223372036854775809,1e30]}},"large":{large}}}"#
    ));
    let message = |digits: &str| {
        format!("{digits} has more than 64 bits and would be rounded: send it as a text")
    };
    assert_eq!(
        told,
        [
            ("/any/a~1b/1".to_owned(), message(large)),
            ("/any/a~1b/3".to_owned(), message("-9223372036854775809")),
        ]
    );
}

/// A key with several spellings in JSON.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Value)]
struct LineId(Uuid);

#[derive(Value)]
#[allow(dead_code, reason = "only its shape matters")]
struct KeyedValue {
    #[serde(default)]
    by_id: HashMap<Uuid, u8>,
    #[serde(default)]
    by_time: BTreeMap<Timestamp, u8>,
    #[serde(default)]
    by_line: Vec<BTreeMap<LineId, HashMap<Uuid, u8>>>,
    #[serde(default)]
    by_name: BTreeMap<String, u8>,
    #[serde(default)]
    by_number: BTreeMap<u8, u8>,
}

#[test]
fn two_spellings_of_one_key_of_a_map_are_refused() {
    let (lower, upper) = (
        "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
        "8D1AC1A5-4E9C-4B63-92FC-6E2A3D0AC1F2",
    );
    let (zulu, offset) = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00");
    let twice = json!({ lower: 1, upper: 2 });
    for (request, place) in [
        (json!({ "byId": twice }), format!("/byId/{lower}")),
        (
            json!({ "byTime": { zulu: 1, offset: 2 } }),
            format!("/byTime/{offset}"),
        ),
        (
            json!({ "byLine": [{ upper: {}, lower: {} }] }),
            format!("/byLine/0/{lower}"),
        ),
        (
            json!({ "byLine": [{ upper: twice }] }),
            format!("/byLine/0/{upper}/{lower}"),
        ),
    ] {
        let value: KeyedValue = serde_json::from_value(request.clone()).unwrap();
        let mut violations = Violations::of_request(request.to_string().as_bytes());
        value.validate(&mut violations);
        let found = violations.into_vec();
        assert_eq!(found.len(), 1, "{request}: {found:?}");
        assert_eq!(found[0].pointer, place);
        assert!(found[0].message.contains("is the same key as"), "{found:?}");
    }
    let distinct = json!({
        "byId": { upper: 1, "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f3": 1 },
        "byName": { lower: 1, upper: 1, "1": 1, "01": 1 },
        "byNumber": { "1": 1, "2": 1 },
    });
    let value: KeyedValue = serde_json::from_value(distinct.clone()).unwrap();
    let mut violations = Violations::of_request(distinct.to_string().as_bytes());
    value.validate(&mut violations);
    assert_eq!(violations.into_vec(), []);
}

#[test]
fn a_value_that_no_request_contains_is_not_searched() {
    let mut violations = Violations::default();
    let line = Some(Line { num_copies: 1 });
    Order {
        line,
        ..Order::default()
    }
    .validate(&mut violations);
    assert!(violations.into_vec().is_empty());
}

#[test]
fn a_stored_event_with_an_undeclared_member_can_be_read() {
    #[derive(Event)]
    #[event(name = "com.example.library.ShelfFilledEvent")]
    struct ShelfFilledEvent {
        line: Line,
        internal: InternallyTaggedEnum,
    }
    let json = r#"{"line":{"numCopies":1,"x":1},"internal":{"kind":"nothing","y":1},"z":1}"#;
    let event: ShelfFilledEvent = serde_json::from_str(json).unwrap();
    assert_eq!(event.line.num_copies, 1);
    assert!(matches!(event.internal, InternallyTaggedEnum::Nothing));
}
