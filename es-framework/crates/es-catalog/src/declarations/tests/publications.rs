//! Publications and public events: their place in the model, and mistakes in their declarations.

use es_command::publication::{PublicEventDescriptor, PublicationDescriptor};

use super::*;
use crate::{Finding, model::ModelEdge};

/// A shelf stands in a room.
#[derive(PublicEvent)]
#[public_event(package = "com.example.shelves")]
struct ShelfStands {
    id: Uuid,
}

/// Nothing publishes it.
#[derive(PublicEvent)]
#[public_event(package = "com.example.shelves", version = 2)]
struct ShelfFell {}

#[derive(State)]
struct Paint {}

#[evolve]
impl Paint {
    fn painted(_: &ShelfPaintedEvent) -> Self {
        Self {}
    }
}

#[publish]
fn shelf_stands(event: &ShelfBuiltEvent, _: Option<&Paint>) -> ShelfStands {
    ShelfStands { id: event.id }
}

mod elsewhere {
    use super::*;

    /// Another public event of the same type.
    #[derive(PublicEvent)]
    #[public_event(package = "com.example.shelves")]
    struct ShelfStands {}

    #[publish]
    fn shelf_stands(_: &RowAddedEvent) -> Option<ShelfStands> {
        None
    }
}

fn publications(of_module: fn(&str) -> bool) -> Vec<PublicationDescriptor> {
    let all = inventory::iter::<PublicationDescriptor>().copied();
    all.filter(|one| of_module(one.declaration.module))
        .collect()
}

fn public_events(of_module: fn(&str) -> bool) -> Vec<PublicEventDescriptor> {
    let all = inventory::iter::<PublicEventDescriptor>().copied();
    all.filter(|one| of_module(one.declaration.module))
        .collect()
}

fn is_here(module: &str) -> bool {
    module.ends_with("::publications")
}

fn is_anywhere(_: &str) -> bool {
    true
}

const STANDS: &str = "com.example.shelves.ShelfStands.v1";
const STANDS_NODE: &str = "public-event:com.example.shelves.ShelfStands.v1";

#[test]
fn a_public_event_is_in_the_model_with_its_publication_and_its_states() {
    let catalog = shelves()
        .publications(publications(is_here), public_events(is_here))
        .build()
        .unwrap();
    let model = catalog.to_model("shelves", &catalog.findings(None));
    let node = model.node(STANDS_NODE).unwrap();
    assert_eq!(node.name, STANDS);
    assert_eq!(node.subject.as_deref(), Some("/shelves/{id}"));
    assert_eq!(node.summary, "A shelf stands in a room.");
    assert_eq!(node.short_name(), "ShelfStands.v1");
    assert_eq!(
        node.schema.as_ref().unwrap()["properties"]["id"]["format"],
        "uuid"
    );
    let [rule] = node.rules.as_slice() else {
        panic!("it is one")
    };
    assert_eq!(rule.label, "publication shelf_stands");
    assert_eq!(
        rule.sentence,
        "The publication shelf_stands publishes it after com.example.shelves.ShelfBuiltEvent, of which it sees no personal value."
    );
    let leads_to = |to: &str| {
        let edges = model.edges.iter().filter(|edge| edge.to == to);
        edges.cloned().collect::<Vec<ModelEdge>>()
    };
    let edges = leads_to(STANDS_NODE);
    let verbs: Vec<_> = edges
        .iter()
        .map(|edge| (edge.from.as_str(), edge.kind.verb()))
        .collect();
    assert_eq!(
        verbs,
        [
            (
                "event:com.example.shelves.ShelfBuiltEvent",
                "is published as"
            ),
            ("state:Paint", "decides"),
        ]
    );
    assert_eq!(leads_to("state:Paint").len(), 1);
    let svg = model.to_svg();
    assert!(svg.contains("class=\"node public-event\""), "{svg}");
    assert!(svg.contains("and 2 public events"), "{svg}");
    let mermaid = model.to_mermaid();
    assert!(mermaid.contains("-- is published as -->"), "{mermaid}");
    assert!(mermaid.contains(":::publicEvent"), "{mermaid}");
}

#[test]
fn a_public_event_that_nothing_publishes_is_a_finding() {
    let catalog = shelves()
        .publications(publications(is_here), public_events(is_here))
        .build()
        .unwrap();
    let findings = catalog.findings(None).into_iter();
    let found: Vec<_> = findings
        .filter(|one| one.kind == FindingKind::UnpublishedEvent)
        .map(|one| one.to_string())
        .collect();
    let [sentence] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(
        sentence.starts_with("no publication publishes com.example.shelves.ShelfFell.v2 at "),
        "{sentence}"
    );
}

#[test]
fn a_publication_consumes_its_event() {
    let unconsumed = |builder: CatalogBuilder| {
        let findings = builder.build().unwrap().findings(None);
        let is_unconsumed = |one: &&Finding| {
            one.kind == FindingKind::UnconsumedEvent && one.name.ends_with(".ShelfBuiltEvent")
        };
        findings.iter().filter(is_unconsumed).count()
    };
    assert_eq!(unconsumed(shelves()), 1);
    let published = shelves().publications(publications(is_here), public_events(is_here));
    assert_eq!(unconsumed(published), 0);
}

#[test]
fn a_publication_of_an_event_that_is_not_served_is_a_finding() {
    let catalog = Catalog::builder()
        .command::<BuildShelfCommand>()
        .event::<RowAddedEvent>()
        .publications(publications(is_here), public_events(is_here))
        .build()
        .unwrap();
    let findings = catalog.findings(None);
    let is_unserved = |one: &&Finding| one.kind == FindingKind::UnservedEvent;
    let sentence = findings.iter().find(is_unserved).unwrap().to_string();
    assert!(
        sentence.contains(
            "follows from com.example.shelves.ShelfBuiltEvent, which the application does not serve"
        ),
        "{sentence}"
    );
    let model = catalog.to_model("shelves", &findings);
    assert!(model.finding(STANDS_NODE).is_some());
}

#[test]
fn two_publications_of_one_name_are_both_named() {
    let named = contradiction(shelves().publications(publications(is_anywhere), []));
    let sentence = named.unwrap();
    assert!(
        sentence.starts_with("two publications are named shelf_stands: at "),
        "{sentence}"
    );
}

#[test]
fn two_public_events_of_one_type_are_both_named() {
    let named = contradiction(shelves().publications([], public_events(is_anywhere)));
    let sentence = named.unwrap();
    assert!(
        sentence.starts_with(&format!("two public events have the type {STANDS}: at ")),
        "{sentence}"
    );
}
