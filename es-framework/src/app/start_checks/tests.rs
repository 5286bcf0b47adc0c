//! The subjects of events, and contradictions of projections.

use super::{
    DeclarationWarning, event_subjects::SubjectScope, find_contradiction, find_probable_mistakes,
};
use crate::{
    command::{Registry, RegistryBuilder},
    prelude::*,
    projection::{ReadModelDescriptor, ReadModels},
    reaction::{ReactionDescriptor, Reactions},
};

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

fn registry() -> RegistryBuilder {
    Registry::builder()
        .command::<BuildShelfCommand>()
        .event::<ShelfBuiltEvent>()
        .event::<RowAddedEvent>()
        .event::<ShelfPaintedEvent>()
}

fn contradiction(registry: RegistryBuilder, models: &[ReadModelDescriptor]) -> Option<String> {
    let models = ReadModels::new(models.iter().copied()).unwrap();
    let registry = registry.build().unwrap();
    find_contradiction(&registry, &models).map(|one| one.to_string())
}

#[test]
fn an_optional_state_that_is_never_there_is_a_contradiction_too() {
    let text = contradiction(registry().command::<CountRowsCommand>(), &[]).unwrap();
    for part in [
        "CountRowsCommand, handled at es-framework/src/app/start_checks/tests.rs:",
        "takes `rows: &Rows` from its subject /shelves/{id}",
        "its events occur on /shelves/{id}/rows/{row}",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_state_of_descendants_and_one_of_unknown_events_are_accepted() {
    assert_eq!(
        contradiction(registry().command::<CountBelowCommand>(), &[]),
        None
    );
}

#[test]
fn a_projection_whose_event_cannot_be_on_the_subject_is_a_contradiction() {
    let text = contradiction(registry(), &[ReadModelDescriptor::of::<Room>()]).unwrap();
    for part in [
        "the read model rooms at es-framework/src/app/start_checks/tests.rs:",
        "has its keys in the subject /rooms/{id}, where com.example.shelves.ShelfBuiltEvent cannot occur",
        "it occurs on /shelves/{id}",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(
        contradiction(registry(), &[ReadModelDescriptor::of::<ShelfById>()]),
        None
    );
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
    let registry = registry().command::<CountRowsCommand>().build().unwrap();
    let warned = |reactions: &[ReactionDescriptor]| -> Vec<_> {
        let reactions = Reactions::new(reactions.iter().copied()).unwrap();
        let warnings = find_probable_mistakes(&registry, &ReadModels::default(), &reactions);
        let loops = warnings.into_iter().filter_map(|warning| match warning {
            DeclarationWarning::ReactionLoop { reaction, .. } => Some(reaction),
            _ => None,
        });
        loops.collect()
    };
    let [paint, rebuild] = [
        ReactionDescriptor::of::<Paint>(),
        ReactionDescriptor::of::<Rebuild>(),
    ];
    assert!(warned(&[paint]).is_empty());
    assert_eq!(warned(&[rebuild]), ["Rebuild"]);
    assert_eq!(warned(&[paint, rebuild]), ["Paint", "Rebuild"]);
}
