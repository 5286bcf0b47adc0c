//! Decisions that would not be read back are refused before the append.

use serde_json::Value as Json;

use super::*;

#[derive(Command)]
#[command(subject = "/trees/{id}")]
struct MeasureTreeCommand {
    id: String,
    /// The heights of the branches, in metres.
    heights: Vec<f64>,
}

#[derive(Event)]
struct TreeMeasuredEvent {
    mean: f64,
}

#[derive(Event)]
struct BranchesMeasuredEvent {
    report: Report,
}

#[derive(Value)]
struct Report {
    tallest: Option<f64>,
}

/// A handler that divides by the number of branches, and does not ask whether there is one.
#[handler]
fn measure_tree(
    command: MeasureTreeCommand,
) -> Decision<(BranchesMeasuredEvent, TreeMeasuredEvent), Report> {
    let heights = command.heights;
    let mean = heights.iter().sum::<f64>() / (heights.len() as f64);
    let tallest = heights.iter().copied().reduce(f64::max);
    let events = (
        BranchesMeasuredEvent {
            report: Report { tallest },
        },
        TreeMeasuredEvent { mean },
    );
    Decision::new(events, Report { tallest })
}

#[derive(Command)]
#[command(subject = "/trees/{id}/estimates")]
struct EstimateTreeCommand {
    id: String,
}

#[handler]
fn estimate_tree(_: EstimateTreeCommand) -> Decision<TreeWateredEvent, Report> {
    let tallest = Some(f64::INFINITY);
    Decision::new(TreeWateredEvent {}, Report { tallest })
}

#[derive(Event)]
struct TreeCountedEvent {
    trees: u32,
}

#[derive(Event)]
#[event(version = 2)]
struct ForestCountedEvent {
    share: f64,
}

#[es_macros::upcast]
fn tree_counted_is_forest_counted(old: TreeCountedEvent) -> ForestCountedEvent {
    let share = 1.0 / f64::from(old.trees);
    ForestCountedEvent { share }
}

#[derive(Command)]
#[command(subject = "/forests/{id}")]
struct CountTreesCommand {
    id: String,
    trees: u32,
}

#[handler]
fn count_trees(command: CountTreesCommand) -> TreeCountedEvent {
    let trees = command.trees;
    TreeCountedEvent { trees }
}

async fn send<C: Handle>(
    resources: &CommandResources,
    body: &str,
) -> Result<CommandOutcome, CommandError> {
    let context = CommandContext {
        idempotency_key: Some(body.parse().unwrap()),
        ..CommandContext::default()
    };
    let request = CommandRequest {
        body: body.as_bytes(),
        path_parameters: &[],
        context: &context,
    };
    let command = CommandDescriptor::of::<C>();
    let outcome = command.execute(resources, request).await;
    let dry_run = command.decide(resources, request).await;
    let errors = (outcome.as_ref().err(), dry_run.as_ref().err());
    let errors = (
        errors.0.map(ToString::to_string),
        errors.1.map(ToString::to_string),
    );
    assert_eq!(errors.0, errors.1, "a dry run says what the command says");
    outcome
}

fn refusal(result: Result<CommandOutcome, CommandError>) -> String {
    match result.unwrap_err() {
        CommandError::Encode(message) => message,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_event_that_its_declaration_cannot_read_is_refused_and_nothing_is_appended() {
    let store = MemoryStore::new();
    let resources = CommandResources::new(Arc::new(store.clone()), "garden");
    let message =
        refusal(send::<MeasureTreeCommand>(&resources, r#"{"id":"1","heights":[]}"#).await);
    assert!(message.contains("TreeMeasuredEvent"), "{message}");
    assert!(message.contains("/mean: NaN"), "{message}");
    let read = async || {
        let all = store.read(Subject::root(), ReadOptions::recursive());
        all.try_collect::<Vec<RecordedEvent>>().await.unwrap()
    };
    assert!(read().await.is_empty());
    send::<MeasureTreeCommand>(&resources, r#"{"id":"1","heights":[2.5]}"#)
        .await
        .unwrap();
    // Two events and the idempotency record.
    assert_eq!(read().await.len(), 3);
}

#[tokio::test]
async fn a_reply_that_contradicts_its_schema_is_refused_and_nothing_is_appended() {
    let store = MemoryStore::new();
    let resources = CommandResources::new(Arc::new(store.clone()), "garden");
    let message = refusal(send::<EstimateTreeCommand>(&resources, r#"{"id":"1"}"#).await);
    assert!(message.starts_with("the reply "), "{message}");
    assert!(message.contains("/tallest: NaN"), "{message}");
    let all = store.read(Subject::root(), ReadOptions::recursive());
    assert!(all.try_collect::<Vec<_>>().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_event_that_its_upcaster_makes_unreadable_is_refused() {
    let upcaster = es_event::UpcasterDescriptor::of::<TreeCountedEvent>();
    let upcasters = es_event::Upcasters::new([upcaster]).unwrap();
    let store = MemoryStore::new();
    let resources =
        CommandResources::new(Arc::new(store.clone()), "garden").with_upcasters(upcasters);
    let message = refusal(send::<CountTreesCommand>(&resources, r#"{"id":"1","trees":0}"#).await);
    assert!(message.contains("TreeCountedEvent"), "{message}");
    assert!(message.contains("upcast to"), "{message}");
    send::<CountTreesCommand>(&resources, r#"{"id":"1","trees":2}"#)
        .await
        .unwrap();
}

#[test]
fn a_reply_keeps_its_json() {
    let mut decision =
        super::super::UntypedDecision::new("/trees/1".parse().unwrap(), Metadata::default());
    let tallest = Some(2.5);
    decision.set_reply(&Report { tallest }).unwrap();
    let (_, reply) = decision.into_parts();
    let reply: Json = serde_json::from_str(reply.unwrap().get()).unwrap();
    assert_eq!(reply, serde_json::json!({ "tallest": 2.5 }));
}
