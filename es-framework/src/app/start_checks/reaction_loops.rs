//! Reactions that start themselves, directly or through others.

use std::collections::BTreeSet;

use super::declaration_warning::DeclarationWarning;
use crate::{
    command::Registry,
    reaction::{ReactionDescriptor, ReactionStep, Reactions},
};

/// Returns a warning for each reaction whose commands can lead back to an event that starts it.
pub(super) fn find_reaction_loops(
    registry: &Registry,
    reactions: &Reactions,
) -> Vec<DeclarationWarning> {
    let checked = reactions.iter().filter(|reaction| !reaction.repeats);
    let loops = checked.filter_map(|reaction| find_loop(reaction, registry, reactions));
    loops.collect()
}

fn find_loop(
    reaction: &ReactionDescriptor,
    registry: &Registry,
    reactions: &Reactions,
) -> Option<DeclarationWarning> {
    reaction.steps.iter().find_map(|step| {
        (step.commands)().into_iter().find_map(|command| {
            let records = (command.events)();
            let leads_back = |event: &&&str| reaches(event, step.event, reactions);
            let event = records.iter().find(leads_back)?;
            let handled = registry.commands().iter();
            let handled = handled.clone().find(|one| one.name == command.name);
            Some(DeclarationWarning::ReactionLoop {
                reaction: reaction.name,
                declaration: reaction.declaration,
                command: command.name,
                handler: handled.map_or(command.handler, |command| command.handler),
                event,
            })
        })
    })
}

/// Returns whether an event leads to another one through reactions.
fn reaches(from: &str, to: &str, reactions: &Reactions) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(event) = open.pop() {
        if event == to {
            return true;
        }
        if !seen.insert(event.clone()) {
            continue;
        }
        let starts = |step: &&ReactionStep| step.event == event;
        let steps = reactions.iter().filter(|reaction| !reaction.repeats);
        for step in steps.flat_map(|reaction| reaction.steps).filter(starts) {
            let commands = (step.commands)().into_iter();
            let events = commands.flat_map(|command| (command.events)());
            open.extend(events.map(str::to_owned));
        }
    }
    false
}
