//! Messages of failed expectations.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};

use es_framework::{
    prelude::*,
    testing::{CommandExpectation, ReactionExpectation, given},
};

/// Plants a tree.
#[derive(Command)]
#[command(subject = "/trees/{id}", condition = pristine)]
struct PlantTreeCommand {
    id: String,
    kind: String,
    #[validate(range(min = 1))]
    num_leaves: i64,
}

/// Waters a tree.
#[derive(Command)]
#[command(subject = "/trees/{id}", condition = exists)]
struct WaterTreeCommand {
    id: String,
}

#[derive(Event)]
struct TreePlantedEvent {
    kind: String,
    num_leaves: i64,
}

#[derive(Event)]
struct TreeWateredEvent {}

#[handler]
fn plant_tree(command: PlantTreeCommand) -> TreePlantedEvent {
    let PlantTreeCommand {
        kind, num_leaves, ..
    } = command;
    TreePlantedEvent { kind, num_leaves }
}

#[handler]
fn water_tree(_: WaterTreeCommand) -> TreeWateredEvent {
    TreeWateredEvent {}
}

/// Waters each new willow.
struct Gardener;

#[reaction(begin = new)]
impl Gardener {
    fn water(event: &TreePlantedEvent) -> Option<WaterTreeCommand> {
        let id = "t1".into();
        (event.kind == "willow").then_some(WaterTreeCommand { id })
    }
}

fn planted() -> TreePlantedEvent {
    tree("oak")
}

fn tree(kind: &str) -> TreePlantedEvent {
    TreePlantedEvent {
        kind: kind.into(),
        num_leaves: 7,
    }
}

fn plant() -> PlantTreeCommand {
    PlantTreeCommand {
        id: "t1".into(),
        kind: "oak".into(),
        num_leaves: 7,
    }
}

/// Returns the message of a failed expectation.
fn printed(expect: impl FnOnce()) -> String {
    let failure = catch_unwind(AssertUnwindSafe(expect)).expect_err("it holds");
    *failure.downcast::<String>().unwrap()
}

fn planting() -> CommandExpectation {
    given().when(plant())
}

#[test]
fn what_holds_passes() {
    planting().then(planted());
    given().event(planted()).when(plant()).then_already_exists();
    given()
        .event_on("/trees/t2", planted())
        .when(WaterTreeCommand { id: "t1".into() })
        .then_not_found("/trees/t1");
    let unplantable = PlantTreeCommand {
        num_leaves: 0,
        ..plant()
    };
    given().when(unplantable).then_invalid(["/numLeaves"]);
}

#[test]
fn a_difference_in_the_events_is_shown_line_by_line() {
    let text = printed(|| {
        planting().then(tree("elm"));
    });
    assert!(text.contains("-     \"kind\": \"elm\""), "{text}");
    assert!(text.contains("+     \"kind\": \"oak\""), "{text}");
    let text = printed(|| {
        planting().then(());
    });
    assert!(text.contains("+   \"subject\": \"/trees/t1\""), "{text}");
}

#[test]
fn another_outcome_is_named() {
    let text = printed(|| planting().then_already_exists());
    assert_eq!(
        text,
        "expected that /trees/t1 already exists, but the command was carried out"
    );
    let text = printed(|| {
        given().event(planted()).when(plant()).then(planted());
    });
    assert!(
        text.ends_with("but it was refused: /trees/t1 already exists"),
        "{text}"
    );
    let text = printed(|| planting().then_reply(Uuid::nil()).then_already_exists());
    assert_eq!(text, "the handler was expected to reply, and did not");
}

#[test]
fn an_accepted_command_may_decide_anything() {
    planting().then_accepted().then(planted());
    let text = printed(|| {
        given().event(planted()).when(plant()).then_accepted();
    });
    let expected =
        "expected that the command is carried out, but it was refused: /trees/t1 already exists";
    assert_eq!(text, expected);
}

#[test]
fn a_problem_is_compared_by_its_name_and_its_detail() {
    let twice = || given().event(planted()).when(plant());
    twice().then_problem("already-exists", "/trees/t1 already exists");
    let text = printed(|| twice().then_problem("already-exists", "/trees/t2 already exists"));
    assert!(text.contains("- already-exists: /trees/t2"), "{text}");
    let text = printed(|| planting().then_problem("gone", ""));
    assert_eq!(
        text,
        "expected the problem gone, but the command was carried out"
    );
}

#[test]
fn events_in_json_are_compared_and_read() {
    let tree = r#"{"kind":"oak","numLeaves":7}"#;
    let planted = ("/trees/t1", "com.example.library.TreePlantedEvent", tree);
    planting().then_json([planted]);
    let (subject, event_type, payload) = planted;
    let past = || given().event_json(subject, event_type, payload);
    past().when(plant()).then_already_exists();
    assert!(printed(|| drop(planting().then_json([]))).contains("+   \"subject\": \"/trees/t1\""));
    let text = printed(|| drop(given().event_json("/a", "com.example.library.A", "{")));
    assert!(
        text.starts_with("the payload of com.example.library.A is not JSON"),
        "{text}"
    );
    let text = printed(|| drop(past().when_json("FellTreeCommand", "{}")));
    assert_eq!(
        text,
        "no command of this program has the name FellTreeCommand"
    );
}

#[test]
fn a_reaction_to_new_events_reacts_to_the_events_of_the_scenario() {
    let id = || "t1".into();
    given()
        .event_on("/trees/t1", tree("willow"))
        .reacts::<Gardener>()
        .then_sent(WaterTreeCommand { id: id() })
        .then_on("/trees/t1", TreeWateredEvent {});
    let oak = || given().event_on("/trees/t1", tree("oak"));
    oak().reacts::<Gardener>().then_nothing();
}

#[test]
fn a_reaction_that_no_event_starts_does_not_pass_as_one_that_does_nothing() {
    let watered = given().event_on("/trees/t1", TreeWateredEvent {});
    let text = printed(|| watered.reacts::<Gardener>().then_nothing());
    assert_eq!(
        text,
        "Gardener could do nothing, because no event of the scenario starts it: add one of com.example.library.TreePlantedEvent"
    );
}

#[derive(Event)]
struct ShowPlannedEvent {
    starts_at: Timestamp,
}

/// The lines that a reaction wrote.
#[derive(Service)]
struct LogBook {
    lines: Arc<Mutex<Vec<String>>>,
}

struct Show;

#[reaction]
impl Show {
    #[deadline(at = starts_at - 24h)]
    fn water(_: &ShowPlannedEvent) -> WaterTreeCommand {
        WaterTreeCommand { id: "t1".into() }
    }

    async fn log(
        _: &ShowPlannedEvent,
        recorded: &RecordedEvent,
        book: &LogBook,
    ) -> Result<(), std::convert::Infallible> {
        let line = format!("{} {}", recorded.id, recorded.subject);
        book.lines.lock().unwrap().push(line);
        Ok(())
    }
}

fn planned_show(lines: &Arc<Mutex<Vec<String>>>, now: &str) -> ReactionExpectation {
    let starts_at = "2026-07-02T12:00:00Z".parse().unwrap();
    let lines = Arc::clone(lines);
    given()
        .event_on("/trees/t1", tree("oak"))
        .event_on("/trees/t1", ShowPlannedEvent { starts_at })
        .with(LogBook { lines })
        .at(now)
        .reacts::<Show>()
}

#[test]
fn a_deadline_lies_a_day_before_the_time_in_its_event() {
    let lines = Arc::default();
    planned_show(&lines, "2026-07-01T11:59:59Z").then_nothing();
    planned_show(&lines, "2026-07-01T12:00:00Z").then_sent(WaterTreeCommand { id: "t1".into() });
}

#[test]
fn a_call_sees_the_recorded_event() {
    let lines = Arc::default();
    planned_show(&lines, "2026-07-01T11:59:59Z").then_nothing();
    assert_eq!(*lines.lock().unwrap(), ["1 /trees/t1"]);
}

#[tokio::test]
async fn a_test_may_be_asynchronous() {
    planting().then(planted());
}

#[test]
fn more_rows_than_a_test_can_read_fail_it() {
    #[derive(Event)]
    struct LeafFallenEvent {
        number: u32,
    }

    #[derive(ReadModel)]
    #[read_model(table = "fallen_leaves", subject = "/leaves/{number}")]
    struct FallenLeaf {
        #[key]
        number: u32,
    }

    #[projection]
    impl FallenLeaf {
        fn fallen(event: &LeafFallenEvent) -> Self {
            Self {
                number: event.number,
            }
        }
    }

    let fallen = (0..=10_000).fold(given(), |past, number| {
        past.event_on(&format!("/leaves/{number}"), LeafFallenEvent { number })
    });
    let message = printed(|| drop(fallen.rows::<FallenLeaf>()));
    assert!(message.contains("more than 10000 rows"), "{message}");
}
