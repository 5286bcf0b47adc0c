//! A reaction that decides on a state: that after its event, whenever it decides.

use super::*;
use crate::{
    command::Parameter,
    reaction::{PendingCommands, box_commands},
};

/// The number of times that an invoice was sent.
#[derive(Debug, State)]
struct Sendings {
    count: u32,
}

#[evolve]
impl Sendings {
    fn opened(_: &InvoicePaidEvent) -> Self {
        Self { count: 0 }
    }

    fn sent(&mut self, _: &InvoiceSentEvent) {
        self.count += 1;
    }
}

/// Sends a command that names the number of times.
struct StateCounter;

fn decide(
    event: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
) -> Result<PendingCommands, ReactionError> {
    let InvoiceSentEvent { id, .. } = event.payload()?;
    let sendings = context.rebuild_required::<Sendings>(event.recorded().subject.clone(), false);
    Ok(box_commands(async move {
        let count = sendings.await?.count;
        let mut commands = OutgoingCommands::default();
        RemindPayerCommand {
            id: format!("{id}-{count}"),
        }
        .add_to(&mut commands)?;
        Ok(commands)
    }))
}

impl React for StateCounter {
    const NAME: &'static str = "StateCounter";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "count",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Decide(decide),
        parameters: &[Parameter::of_state::<Sendings>("sendings", None, false)],
        commands: Vec::new,
    }];
}

#[tokio::test]
async fn a_state_is_that_after_the_event_although_later_ones_are_stored() {
    let world = World::at(DUE);
    for id in ["a", "b"] {
        world.write(id, InvoicePaidEvent {}).await;
    }
    for id in ["a", "b", "a", "a"] {
        world.send(id).await;
    }
    world.write("a", InvoicePaidEvent {}).await;
    world.catch_up::<StateCounter>().await;
    let mut reminded = world.reminded().await;
    reminded.sort();
    let expected = [
        "/invoices/a-1",
        "/invoices/a-2",
        "/invoices/a-3",
        "/invoices/b-1",
    ];
    assert_eq!(reminded, expected);
}
