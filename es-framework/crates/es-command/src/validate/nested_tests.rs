//! The rules of a value hold in every container that a declaration may use.

#![allow(clippy::type_complexity, reason = "containers inside each other")]

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque},
    num::NonZeroU32,
    sync::Arc,
};

use serde_json::{Value as Json, json};

use super::{Validate as _, Violations};
use crate::prelude::*;

#[derive(Clone, Value)]
struct Line {
    #[validate(range(min = 1))]
    copies: u8,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
struct Isbn(#[validate(pattern("^[0-9]{3}$"))] String);

/// A key that is no value of the framework.
#[derive(
    Clone,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
struct Shelf(String);

type Lines = HashMap<Uuid, Line>;
type Pair = (Line, Line);

#[derive(Value)]
struct Order {
    by_id: HashMap<Uuid, Line>,
    by_number: BTreeMap<NonZeroU32, Vec<Line>>,
    by_shelf: BTreeMap<Shelf, Line>,
    by_isbn: BTreeMap<Isbn, u8>,
    alias: Lines,
    pair: Pair,
    array: [Line; 2],
    tuple: (String, Line, u8),
    deque: VecDeque<Line>,
    linked: LinkedList<Option<Line>>,
    boxed: Box<[Line]>,
    shared: Arc<Line>,
    borrowed: Cow<'static, Line>,
    set: BTreeSet<Isbn>,
    hash_set: HashSet<Isbn>,
    outcome: Result<Line, String>,
    failure: Result<u8, Line>,
    deep: Vec<BTreeMap<String, (u8, Option<Box<[Line; 1]>>)>>,
    delivery: Delivery,
}

#[derive(Value)]
enum Delivery {
    Parcels(u8, [Line; 1]),
    Crates { crates: (Line,) },
}

const ID: &str = "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2";

/// An order whose lines have so many copies, and whose numbers of editions are this one.
fn order(copies: u8, isbn: &str, delivery: &Json) -> Json {
    let line = json!({ "copies": copies });
    json!({
        "byId": { ID: line },
        "byNumber": { "7": [{ "copies": 1 }, line] },
        "byShelf": { "a/b~c": line },
        "byIsbn": { isbn: 1 },
        "alias": { ID: line },
        "pair": [{ "copies": 1 }, line],
        "array": [{ "copies": 1 }, line],
        "tuple": ["text", line, 0],
        "deque": [line],
        "linked": [null, line],
        "boxed": [line],
        "shared": line,
        "borrowed": line,
        "set": ["123", isbn],
        "hashSet": [isbn],
        "outcome": { "Ok": line },
        "failure": { "Err": line },
        "deep": [{}, { "x/y": [0, [line]] }],
        "delivery": delivery,
    })
}

fn pointers(order: Json) -> Vec<String> {
    let order: Order = serde_json::from_value(order).unwrap();
    let mut violations = Violations::default();
    order.validate(&mut violations);
    let found = violations.into_vec().into_iter();
    found.map(|violation| violation.pointer).collect()
}

#[test]
fn a_rule_holds_in_every_container_and_is_told_at_its_place() {
    let parcels = json!({ "parcels": [1, [{ "copies": 0 }]] });
    let expected = [
        format!("/byId/{ID}/copies"),
        "/byNumber/7/1/copies".into(),
        "/byShelf/a~1b~0c/copies".into(),
        "/byIsbn/12".into(),
        format!("/alias/{ID}/copies"),
        "/pair/1/copies".into(),
        "/array/1/copies".into(),
        "/tuple/1/copies".into(),
        "/deque/0/copies".into(),
        "/linked/1/copies".into(),
        "/boxed/0/copies".into(),
        "/shared/copies".into(),
        "/borrowed/copies".into(),
        // A set does not know at which index the request has the member.
        "/set".into(),
        "/hashSet".into(),
        "/outcome/Ok/copies".into(),
        "/failure/Err/copies".into(),
        "/deep/1/x~1y/1/0/copies".into(),
        "/delivery/parcels/1/0/copies".into(),
    ];
    assert_eq!(pointers(order(0, "12", &parcels)), expected);
    let crates = json!({ "crates": { "crates": [{ "copies": 0 }] } });
    assert_eq!(
        pointers(order(1, "123", &crates)),
        ["/delivery/crates/crates/0/copies"]
    );
    let crates = json!({ "crates": { "crates": [{ "copies": 1 }] } });
    assert!(pointers(order(1, "123", &crates)).is_empty());
}
