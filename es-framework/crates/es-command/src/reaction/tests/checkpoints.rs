//! Events on the subject of the checkpoints of an older program that are no checkpoints.

use serde_json::{Value, json};

use super::*;
use es_subscribe::{TroubleCause, operator::ComponentKind};

const CHECKPOINT: &str = "io.es-framework.ReactionCheckpointedEvent";

impl World {
    /// Writes an event on the subject of the checkpoints of `Dunning`.
    async fn write_checkpoint(&self, event_type: &'static str, payload: Value) {
        let candidate = EventCandidate {
            source: "somebody".into(),
            subject: "/es-framework/reactions/Dunning".parse().unwrap(),
            event_type: EventType::declared(event_type),
            data: es_event::encode(&Metadata::default(), &payload).unwrap(),
            trace: None,
        };
        self.store.append(vec![candidate], vec![]).await.unwrap();
    }
}

const DUNNING: [ReactionDescriptor; 1] = [ReactionDescriptor::of::<Dunning>()];

fn checkpoint(position: &str) -> Value {
    json!({ "position": position, "settled": "2026-01-01T00:00:00Z", "openFrom": null })
}

#[tokio::test]
async fn garbage_among_the_checkpoints_of_a_reaction_is_passed_over() {
    for (event_type, garbage) in [
        (CHECKPOINT, json!("garbage")),
        (CHECKPOINT, json!({ "position": 7 })),
        // A position in or behind this event was never reached when it was written.
        (CHECKPOINT, checkpoint("999999")),
        (CHECKPOINT, checkpoint("2")),
        ("com.example.GarbageEvent", checkpoint("1")),
    ] {
        let world = World::at("2026-02-01T00:00:00Z");
        world.send("a").await;
        // It leaves the deadline out.
        world.write_checkpoint(CHECKPOINT, checkpoint("0")).await;
        world.write_checkpoint(event_type, garbage.clone()).await;
        world.send("b").await;
        world.clock.set(DUE.parse().unwrap());
        let (running, operator) = world.start(&DUNNING);
        eventually(async || !world.reminded().await.is_empty()).await;
        let state = operator.progress("Dunning").state();
        assert_eq!(state.name(), "working", "{garbage}");
        world.stop(running).await;
        world.catch_up::<Dunning>().await;
        assert_eq!(world.reminded().await, ["/invoices/b"], "{garbage}");
    }
}

#[tokio::test]
async fn a_foreign_event_does_not_prevent_the_first_start() {
    let world = World::at(DUE);
    world.send("a").await;
    world
        .write_checkpoint("com.example.GarbageEvent", json!(1))
        .await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn a_reaction_without_a_readable_checkpoint_stops_and_begins_anew_if_an_operator_says_so() {
    let world = World::at(DUE);
    world.send("a").await;
    let unread = checkpoint("999999");
    world.write_checkpoint(CHECKPOINT, unread).await;
    let (running, operator) = world.start(&DUNNING);
    let state = || operator.progress("Dunning").state();
    eventually(async || state().is_stopped()).await;
    let trouble = state().trouble().unwrap().clone();
    assert_eq!(trouble.cause, TroubleCause::Checkpoint);
    assert!(
        trouble.reason.contains("/es-framework/reactions/Dunning"),
        "{trouble:?}"
    );
    let exits = state().exits(ComponentKind::Reaction);
    assert_eq!(exits, [OperatorCommand::Rebuild, OperatorCommand::Retry]);
    assert!(world.reminded().await.is_empty());
    let rebuilt = operator.send("Dunning", OperatorCommand::Rebuild).await;
    assert_eq!(rebuilt, Ok(None));
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    eventually(async || state().name() == "working").await;
    let again = operator.send("Dunning", OperatorCommand::Rebuild).await;
    assert_eq!(again, Err(OperatorError::CannotRebuild("Dunning")));
    world.stop(running).await;
    // The next start finds its position.
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}
