//! The subjects of events, contradictions, and loops of reactions.

mod publications;

use crate::model::FindingKind;
use es_command::command::Services;
use es_framework::prelude::*;
use es_read::query::QueryDescriptor;

use super::{Catalog, CatalogBuilder, event_subjects::SubjectScope};

fn scope(template: &str, recursive: bool) -> SubjectScope<'_> {
    SubjectScope {
        template,
        recursive,
    }
}

#[test]
fn a_template_is_in_a_scope_if_some_subject_is_in_both() {
    for (template, other) in [
        ("/books/{id}", "/books/{isbn}"),
        ("/books/{id}", "/{kind}/{id}"),
        ("/{kind}/{id}", "/books/1"),
        ("/", "/"),
    ] {
        assert!(
            scope(template, false).may_contain(other),
            "{template} {other}"
        );
        assert!(
            scope(template, true).may_contain(other),
            "{template} {other}"
        );
    }
    for (template, other) in [
        ("/books/{id}", "/readers/{id}"),
        ("/books/{id}", "/books"),
        ("/books/1", "/books/2"),
    ] {
        assert!(
            !scope(template, false).may_contain(other),
            "{template} {other}"
        );
        assert!(
            !scope(template, true).may_contain(other),
            "{template} {other}"
        );
    }
    assert!(scope("/shelves/{id}", true).may_contain("/shelves/{id}/rows/{row}"));
    assert!(!scope("/shelves/{id}", false).may_contain("/shelves/{id}/rows/{row}"));
}

#[derive(Event)]
#[event(package = "com.example.shelves")]
struct ShelfBuiltEvent {
    id: Uuid,
}

/// Belongs to a descendant of the command's subject.
#[derive(Event)]
#[event(package = "com.example.shelves", subject = "./rows/{row}")]
struct RowAddedEvent {
    row: u32,
}

/// No handler returns it, so another service may record it anywhere.
#[derive(Event)]
#[event(package = "com.example.shelves")]
struct ShelfPaintedEvent {}

#[derive(Command)]
#[command(subject = "/shelves/{id}")]
struct BuildShelfCommand {
    id: Uuid,
}

#[handler]
fn build(command: BuildShelfCommand) -> (ShelfBuiltEvent, RowAddedEvent) {
    (ShelfBuiltEvent { id: command.id }, RowAddedEvent { row: 1 })
}

#[derive(State)]
struct Rows {}

#[evolve]
impl Rows {
    fn added(_: &RowAddedEvent) -> Self {
        Self {}
    }
}

#[derive(State)]
struct PaintedRows {}

#[evolve]
impl PaintedRows {
    fn added(_: &RowAddedEvent) -> Self {
        Self {}
    }

    fn painted(_: &ShelfPaintedEvent) -> Self {
        Self {}
    }
}

#[derive(Command)]
#[command(subject = "/shelves/{id}")]
struct CountRowsCommand {
    id: Uuid,
}

#[handler]
fn count_rows(_rows: Option<&Rows>, command: CountRowsCommand) -> ShelfBuiltEvent {
    ShelfBuiltEvent { id: command.id }
}

#[derive(Command)]
#[command(subject = "/shelves/{id}")]
struct CountBelowCommand {
    id: Uuid,
}

#[handler]
fn count_below(
    #[subject("/shelves/{id}", recursive)] _rows: &Rows,
    _painted: &PaintedRows,
    command: CountBelowCommand,
) -> ShelfBuiltEvent {
    ShelfBuiltEvent { id: command.id }
}

#[derive(ReadModel)]
#[read_model(table = "rooms", subject = "/rooms/{id}")]
struct Room {
    #[key]
    id: Uuid,
}

#[projection]
impl Room {
    fn built(event: &ShelfBuiltEvent) -> Self {
        Self { id: event.id }
    }

    fn painted(&mut self, _: &ShelfPaintedEvent) {}
}

#[derive(ReadModel)]
#[read_model(table = "shelves", subject = "/rooms/{id}")]
struct ShelfById {
    #[key]
    id: Uuid,
}

#[projection]
impl ShelfById {
    #[key(id)]
    fn built(event: &ShelfBuiltEvent) -> Self {
        Self { id: event.id }
    }
}

fn shelves() -> CatalogBuilder {
    Catalog::builder()
        .command::<BuildShelfCommand>()
        .event::<ShelfBuiltEvent>()
        .event::<RowAddedEvent>()
        .event::<ShelfPaintedEvent>()
}

fn contradiction(catalog: CatalogBuilder) -> Option<String> {
    catalog.build().err().map(|error| error.to_string())
}

#[test]
fn an_optional_state_that_is_never_there_is_a_contradiction_too() {
    let text = contradiction(shelves().command::<CountRowsCommand>()).unwrap();
    for part in [
        "CountRowsCommand, handled at es-framework/crates/es-catalog/src/declarations/tests.rs:",
        "takes `rows: &Rows` from its subject /shelves/{id}",
        "its events occur on /shelves/{id}/rows/{row}",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_state_of_descendants_and_one_of_unknown_events_are_accepted() {
    assert_eq!(
        contradiction(shelves().command::<CountBelowCommand>()),
        None
    );
}

#[test]
fn a_projection_whose_event_cannot_be_on_the_subject_is_a_contradiction() {
    let text = contradiction(shelves().read_model::<Room>()).unwrap();
    for part in [
        "the read model rooms at es-framework/crates/es-catalog/src/declarations/tests.rs:",
        "has its keys in the subject /rooms/{id}, where com.example.shelves.ShelfBuiltEvent cannot occur",
        "it occurs on /shelves/{id}",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(contradiction(shelves().read_model::<ShelfById>()), None);
}

#[derive(Query)]
#[query(path = "/rooms", rows = Room)]
struct BrowseRooms {}

#[derive(Query)]
#[query(path = "/rooms", rows = ShelfById)]
struct BrowseShelves {}

#[test]
fn a_query_of_a_read_model_that_is_not_served_is_refused() {
    let text = contradiction(shelves().query::<BrowseRooms>()).unwrap();
    assert!(
        text.contains("reads the read model rooms, which the application does not serve"),
        "{text}"
    );
}

#[test]
fn two_queries_of_one_path_are_both_named() {
    let mut other = QueryDescriptor::of::<BrowseShelves>();
    other.declaration.line += 1;
    let catalog = shelves().read_model::<ShelfById>();
    let queries = [QueryDescriptor::of::<BrowseShelves>(), other];
    let text = contradiction(catalog.queries(queries)).unwrap();
    let [first, second] = queries.map(|query| query.declaration);
    let sentence =
        format!("two queries have the path /rooms: the one at {first} and the one at {second}");
    assert!(text.starts_with(&sentence), "{text}");
}

/// Counts shelves by post.
#[derive(Query)]
#[query(path = "/shelves/count")]
struct CountShelves {}

#[query_handler]
async fn count_shelves(_: CountShelves, _: &Post) -> Result<u64, QueryError> {
    Ok(0)
}

#[test]
fn a_service_of_a_query_has_to_be_provided() {
    let queries = [QueryDescriptor::of::<CountShelves>()];
    let catalog = shelves().read_model::<ShelfById>().queries(queries);
    let catalog = catalog.build().unwrap();
    let missing = catalog.check_services(&Services::default()).unwrap_err();
    let text = missing.to_string();
    assert!(
        text.starts_with("the handler of the query CountShelves at "),
        "{text}"
    );
    assert!(text.ends_with(
        "takes `&Post`, which the application does not provide: write App::provide(Post { … })"
    ));
    let post = Services::default().with(Post {});
    assert_eq!(catalog.check_services(&post), Ok(()));
}

/// Posts letters.
#[derive(Service)]
struct Post {}

struct Letters;

#[reaction]
impl Letters {
    async fn send(_: &RowAddedEvent, _: &Post) -> Result<(), std::io::Error> {
        Ok(())
    }
}

#[test]
fn a_service_of_a_reaction_has_to_be_provided() {
    let catalog = shelves().reaction::<Letters>().build().unwrap();
    let missing = catalog.check_services(&Services::default()).unwrap_err();
    let text = missing.to_string();
    assert!(text.starts_with("the reaction Letters at "), "{text}");
    assert!(text.ends_with(
        "takes `&Post`, which the application does not provide: write `.provide(Post { … })` in front of `.run()`"
    ));
    let post = Services::default().with(Post {});
    assert_eq!(catalog.check_services(&post), Ok(()));
}

struct Paint;

#[reaction]
impl Paint {
    fn count(_: &RowAddedEvent) -> CountRowsCommand {
        CountRowsCommand { id: Uuid::nil() }
    }
}

struct Rebuild;

#[reaction]
impl Rebuild {
    fn rebuild(event: &ShelfBuiltEvent) -> Option<BuildShelfCommand> {
        Some(BuildShelfCommand { id: event.id })
    }
}

#[test]
fn a_loop_through_another_reaction_is_found() {
    // The state of `CountRowsCommand` is a contradiction, so its reaction sends it without its being served.
    let loops = |catalog: CatalogBuilder| -> Vec<_> {
        let findings = catalog.build().unwrap().findings(None).into_iter();
        let loops = findings.filter(|finding| finding.kind == FindingKind::ReactionLoop);
        loops.map(|finding| finding.name).collect()
    };
    assert!(loops(shelves().reaction::<Paint>()).is_empty());
    assert_eq!(loops(shelves().reaction::<Rebuild>()), ["Rebuild"]);
    let both = shelves().reaction::<Paint>().reaction::<Rebuild>();
    assert_eq!(loops(both), ["Paint", "Rebuild"]);
}

/// The rows that were added to a shelf.
#[derive(State)]
struct AddedRows {
    count: u32,
}

#[evolve]
impl AddedRows {
    fn built(_: &ShelfBuiltEvent) -> Self {
        Self { count: 0 }
    }
}

struct NightlyBuild;

#[reaction]
impl NightlyBuild {
    #[schedule(cron = "0 2 * * *", zone = "Europe/Berlin", missed = all)]
    fn build() -> BuildShelfCommand {
        BuildShelfCommand { id: Uuid::nil() }
    }

    fn build_again(_: &ShelfPaintedEvent, rows: Option<&AddedRows>) -> Option<BuildShelfCommand> {
        let id = Uuid::nil();
        rows.is_some_and(|rows| rows.count > 9)
            .then_some(BuildShelfCommand { id })
    }
}

#[test]
fn the_schedule_and_the_states_of_a_reaction_are_in_the_model() {
    let catalog = shelves().reaction::<NightlyBuild>().build().unwrap();
    let model = catalog.to_model("shelves", &[]);
    let reaction = model.node("reaction:NightlyBuild").unwrap();
    assert_eq!(reaction.subject.as_deref(), Some("/shelves/{id}"));
    let rules: Vec<_> = reaction.rules.iter().collect();
    let [rule] = rules.as_slice() else {
        panic!("it is one")
    };
    assert_eq!(rule.label, "0 2 * * * Europe/Berlin");
    assert_eq!(
        rule.sentence,
        "The schedule of `build` is `0 2 * * *` in the zone Europe/Berlin. It makes up for each missed time."
    );
    let edges = model.edges.iter();
    let between: Vec<_> = edges
        .filter(|edge| edge.from == "state:AddedRows" || edge.to == "state:AddedRows")
        .map(|edge| (edge.from.as_str(), edge.to.as_str()))
        .collect();
    let built = "event:com.example.shelves.ShelfBuiltEvent";
    assert_eq!(
        between,
        [
            (built, "state:AddedRows"),
            ("state:AddedRows", "reaction:NightlyBuild")
        ]
    );
}
