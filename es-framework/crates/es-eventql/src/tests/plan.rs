//! The read hints of queries.

use crate::{EventQlQuery, read_hint::ReadHint, read_plan::plan_read};
use es_event::EventId;
use es_store::{Bound, Order};

fn hint(query: &str) -> (ReadHint, bool) {
    let plan = plan_read(&EventQlQuery::parse(query).unwrap().statement);
    (plan.hint, plan.sorted)
}

fn of_where(condition: &str) -> ReadHint {
    hint(&format!(
        "FROM e IN events WHERE {condition} PROJECT INTO e"
    ))
    .0
}

fn id(number: u64) -> EventId {
    EventId::new(number).unwrap()
}

#[test]
fn a_subject_a_type_and_a_range_are_passed_on() {
    let hint = of_where(
        "e.subject == '/a' AND 'io.example.x' == e.type AND e.id AS INT >= 3 AND 9 > e.id AS INT",
    );
    let expected = ReadHint {
        subject: Some("/a".parse().unwrap()),
        event_type: Some("io.example.x".parse().unwrap()),
        lower_bound: Some(Bound::Inclusive(id(3))),
        upper_bound: Some(Bound::Exclusive(id(9))),
        order: Order::Chronological,
    };
    assert_eq!(hint, expected);
    let one = of_where("e.id AS INT == 4");
    assert_eq!(one.lower_bound, Some(Bound::Inclusive(id(4))));
    assert_eq!(one.upper_bound, Some(Bound::Inclusive(id(4))));
}

#[test]
fn what_is_not_certain_is_not_passed_on() {
    for condition in [
        "e.subject == '/a' OR e.type == 'io.example.x'",
        "NOT e.subject == '/a'",
        "e.subject != '/a'",
        "e.data.subject == '/a'",
        "e.subject == 'no subject'",
        "e.id == '3'",
        "e.id AS INT != 3",
        "e.id AS INT >= -1",
        "e.id AS INT CONTAINS 3",
        "e.subject == e.source",
    ] {
        assert_eq!(of_where(condition), ReadHint::default(), "{condition}");
    }
    let empty = of_where("e.id AS INT > 5 AND e.id AS INT < 3");
    assert_eq!(empty.upper_bound, None);
    let two = "FROM e IN events FROM f IN events WHERE e.subject == '/a' PROJECT INTO e";
    assert_eq!(hint(two).0, ReadHint::default());
}

#[test]
fn a_condition_behind_one_that_can_fail_is_not_passed_on() {
    assert_eq!(
        of_where("e.data.x > 1 AND e.subject == '/a'"),
        ReadHint::default()
    );
    let guarded = of_where("e.subject == '/a' AND e.data.x > 1 AND e.type == 'io.example.x'");
    assert!(guarded.subject.is_some() && guarded.event_type.is_none());
}

#[test]
fn the_order_of_ids_is_the_only_one_that_is_passed_on() {
    let of = |clauses: &str| {
        let (hint, sorted) = hint(&format!("FROM e IN events {clauses} PROJECT INTO 1"));
        (hint.order, sorted)
    };
    let newest_first = (Order::Antichronological, true);
    assert_eq!(of("ORDER BY e.id AS INT DESC TOP 1"), newest_first);
    assert_eq!(
        of("WHERE e.type == 'io.example.x' ORDER BY e.id AS INT DESC"),
        newest_first
    );
    assert_eq!(of("ORDER BY e.id AS INT"), (Order::Chronological, true));
    for other in [
        "ORDER BY e.time DESC TOP 1",
        "ORDER BY e.id DESC TOP 1",
        "ORDER BY e.id AS INT DESC, e.data.x + 1",
        "WHERE e.data.x > 1 ORDER BY e.id AS INT DESC TOP 1",
        "ORDER BY e.id AS INT DESC GROUP BY e.id AS INT",
    ] {
        assert_eq!(of(other), (Order::Chronological, false), "{other}");
    }
}
