//! Tests of calls: retries, and poison events.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;

use super::{
    super::{
        React, ReactionAction, ReactionDescriptor, ReactionError, ReactionStep, ReactionTiming,
        StartPosition, check_call,
    },
    DUE, Dunning, InvoiceSentEvent, World, eventually,
};
use crate::command::Parameter;
use crate::prelude::*;
use es_event::{Declaration, declaration};

/// A reaction that calls somebody who answers from the third call on, if at all.
struct PhoneCaller;

#[derive(Service)]
struct Phone {
    answers: bool,
    calls: Mutex<Vec<String>>,
}

impl React for PhoneCaller {
    const NAME: &'static str = "PhoneCaller";
    const START: StartPosition = StartPosition::First;
    const ATTEMPTS: u32 = 3;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "call",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Call(|_, context| {
            let phone = context.service::<Phone>("Phone")?;
            let key = context.key();
            Ok(async move {
                let mut calls = phone.calls.lock().unwrap();
                calls.push(key.to_string());
                if phone.answers && calls.len() % 3 == 0 {
                    Ok(())
                } else {
                    Err(ReactionError::from_call_error("nobody answers"))
                }
            }
            .boxed())
        }),
        parameters: check_call(&[Parameter::injected::<Phone>("phone")], false),
        commands: Vec::new,
    }];
}

#[tokio::test]
async fn a_call_is_made_again_under_one_key_until_it_succeeds() {
    let mut world = World::at(DUE);
    let phone = Arc::new(Phone {
        answers: true,
        calls: Mutex::default(),
    });
    world.services = world.services.with_shared(Arc::clone(&phone));
    let (running, operator) = world.start(&[ReactionDescriptor::of::<PhoneCaller>()]);
    for (id, made) in [("a", 3), ("b", 6)] {
        world.send(id).await;
        eventually(async || {
            world.advance(1);
            phone.calls.lock().unwrap().len() == made
        })
        .await;
        eventually(async || operator.held("PhoneCaller").is_empty()).await;
    }
    running.abort();
    let _ = running.await;
    let calls = phone.calls.lock().unwrap().clone();
    let [a, b] = [&calls[0], &calls[3]];
    assert_eq!(calls, [a, a, a, b, b, b].map(String::clone));
    assert_ne!(a, b);
    // Its task is gone, so the next start does not repeat it.
    world.catch_up::<PhoneCaller>().await;
    assert_eq!(phone.calls.lock().unwrap().len(), 6);
}

/// The subjects of the invoices at which the reaction panicked.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A reaction that panics at every invoice.
struct PanickingReaction;

impl React for PanickingReaction {
    const NAME: &'static str = "PanickingReaction";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "panic",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Send(|event, _, _| {
            PANICS
                .lock()
                .unwrap()
                .push(event.recorded().subject.to_string());
            panic!("no more invoices")
        }),
        parameters: &[],
        commands: Vec::new,
    }];
}

#[tokio::test]
async fn an_event_that_one_reaction_cannot_handle_stops_no_other() {
    let mut world = World::at(DUE);
    let phone = Arc::new(Phone {
        answers: false,
        calls: Mutex::default(),
    });
    world.services = world.services.with_shared(Arc::clone(&phone));
    world.send("a").await;
    let all = [
        ReactionDescriptor::of::<PanickingReaction>(),
        ReactionDescriptor::of::<PhoneCaller>(),
        ReactionDescriptor::of::<Dunning>(),
    ];
    let (running, operator) = world.start(&all);
    let progress = operator.progress("PhoneCaller");
    eventually(async || world.reminded().await.len() == 1).await;
    eventually(async || {
        world.advance(1);
        let held = progress.held_keys();
        held.iter().any(|held| held.next_attempt.is_none())
    })
    .await;
    assert_eq!(phone.calls.lock().unwrap().len(), 3);
    let reason = |name: &str| {
        let held = operator.progress(name).held_keys();
        held.iter()
            .map(|held| held.poison.to_string())
            .collect::<Vec<_>>()
    };
    let cannot = "it cannot take event 0 on /invoices/a: ";
    let panicked = format!("{cannot}the reaction panicked: no more invoices");
    assert_eq!(reason("PanickingReaction"), [panicked]);
    let failed = format!("{cannot}the call failed: nobody answers");
    assert_eq!(reason("PhoneCaller"), [failed]);
    assert!(reason("Dunning").is_empty());
    let mut all = operator.progress.iter();
    assert!(all.all(|progress| !progress.state().is_down()));
    // A panic is not tried again by itself, however much time passes.
    let panics = || PANICS.lock().unwrap().clone();
    let before = panics();
    world.advance(24 * 60 * 60);
    world.send("b").await;
    eventually(async || reason("PanickingReaction").len() == 2).await;
    let after = panics().split_off(before.len());
    assert!(after.iter().all(|subject| subject == "/invoices/b"));
    running.abort();
}
