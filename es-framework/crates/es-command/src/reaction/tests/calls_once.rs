//! Tests of calls: one process makes a call, and another one takes over when that is gone.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{
    super::{
        Deadline, DeadlineField as _, PendingCall, React, ReactionAction, ReactionContext,
        ReactionDescriptor, ReactionError, ReactionStep, ReactionTiming, StartPosition, box_call,
        check_call,
    },
    DUE, InvoicePaidEvent, InvoiceSentEvent, World, eventually,
};
use crate::command::Parameter;
use crate::prelude::*;
use es_event::{Declaration, EventView, declaration};

/// A post office that takes some time for each letter.
#[derive(Default, Service)]
pub(super) struct Post {
    keys: Mutex<Vec<String>>,
    /// The number of the letter whose call takes the time `stuck_for`.
    stuck_from: Option<usize>,
    stuck_for: Duration,
    begun: AtomicUsize,
    pub(super) stuck: Notify,
}

fn send(_: &EventView<'_>, context: &ReactionContext<'_>) -> Result<PendingCall, ReactionError> {
    let (post, key) = (context.service::<Post>("Post")?, context.key());
    Ok(box_call(async move {
        let number = post.begun.fetch_add(1, Ordering::Relaxed);
        if post.stuck_from.is_some_and(|from| number == from) {
            post.stuck.notify_one();
            tokio::time::sleep(post.stuck_for).await;
        }
        tokio::task::yield_now().await;
        post.keys.lock().unwrap().push(key.to_string());
        Ok::<_, ReactionError>(())
    }))
}

const POST: &[Parameter] = check_call(&[Parameter::injected::<Post>("post")], false);

/// Sends two letters at once for each invoice.
pub(super) struct LetterWriter;

impl React for LetterWriter {
    const NAME: &'static str = "LetterWriter";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[
        ReactionStep {
            name: "letter",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(send),
            parameters: POST,
            commands: Vec::new,
        },
        ReactionStep {
            name: "copy",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(send),
            parameters: POST,
            commands: Vec::new,
        },
    ];
}

/// Sends a letter when an invoice is due.
struct DueReminder;

impl React for DueReminder {
    const NAME: &'static str = "DueReminder";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "letter",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Deadline(Deadline {
            at: |view| Ok(view.payload::<InvoiceSentEvent>()?.due_at.time()),
            unless: &[InvoicePaidEvent::TYPE],
        }),
        action: ReactionAction::Call(send),
        parameters: POST,
        commands: Vec::new,
    }];
}

pub(super) fn world(time: &str, stuck_from: Option<usize>) -> (World, Arc<Post>) {
    slow_world(time, stuck_from, Duration::MAX)
}

pub(super) fn slow_world(
    time: &str,
    stuck_from: Option<usize>,
    stuck_for: Duration,
) -> (World, Arc<Post>) {
    let mut world = World::at(time);
    let post = Arc::new(Post {
        stuck_from,
        stuck_for,
        ..Post::default()
    });
    world.services = world.services.with_shared(Arc::clone(&post));
    (world, post)
}

impl Post {
    /// The number of letters that were sent.
    pub(super) fn sent(&self) -> usize {
        self.keys.lock().unwrap().len()
    }
}

/// Asserts that the process sends each letter once, and that a later start sends none again.
pub(super) async fn each_once(world: &World, post: &Post, letters: usize, end: impl FnOnce()) {
    let sent = || post.keys.lock().unwrap().clone();
    eventually(async || sent().len() >= letters).await;
    // The test waits for the slowest process.
    tokio::time::sleep(Duration::from_secs(60)).await;
    end();
    world.catch_up::<LetterWriter>().await;
    let different: HashSet<_> = sent().into_iter().collect();
    assert_eq!((sent().len(), different.len()), (letters, letters));
}

#[tokio::test(start_paused = true)]
async fn several_instances_make_each_call_once() {
    let (world, post) = world("2026-02-01T00:00:00Z", None);
    let all = [
        ReactionDescriptor::of::<LetterWriter>(),
        ReactionDescriptor::of::<DueReminder>(),
    ];
    let running: Vec<_> = (0..3).map(|_| world.start(&all).0).collect();
    for id in 0..100 {
        world.send(&id.to_string()).await;
    }
    eventually(async || post.keys.lock().unwrap().len() == 200).await;
    // A hundred deadlines are due at the same time.
    world.clock.set(DUE.parse().unwrap());
    let end = || running.iter().for_each(tokio::task::JoinHandle::abort);
    each_once(&world, &post, 300, end).await;
    world.catch_up::<DueReminder>().await;
    assert_eq!(post.keys.lock().unwrap().len(), 300);
}

#[tokio::test(start_paused = true)]
async fn an_instance_takes_over_from_one_that_is_gone() {
    let (world, post) = world(DUE, Some(20));
    let writing = [ReactionDescriptor::of::<LetterWriter>()];
    let (first, _) = world.start(&writing);
    for id in 0..20 {
        world.send(&id.to_string()).await;
    }
    post.stuck.notified().await;
    let (second, _) = world.start(&writing);
    // The second process stands by.
    tokio::time::sleep(Duration::from_secs(40)).await;
    // The letter that hangs is missing, and its copy if that comes after it. All other subjects have theirs.
    assert!((38..40).contains(&post.sent()), "{}", post.sent());
    first.abort();
    let killed = Instant::now();
    eventually(async || post.keys.lock().unwrap().len() >= 40).await;
    assert!(killed.elapsed() < Duration::from_secs(15));
    each_once(&world, &post, 40, || second.abort()).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_end_is_made_again_by_the_same_instance() {
    let (world, post) = world(DUE, Some(0));
    world.send("a").await;
    let writing = [ReactionDescriptor::of::<LetterWriter>()];
    let (first, _) = world.start(&writing);
    post.stuck.notified().await;
    let (second, _) = world.start(&writing);
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(post.keys.lock().unwrap().len(), 0);
    eventually(async || {
        world.advance(1);
        post.keys.lock().unwrap().len() == 2
    })
    .await;
    let end = || {
        [first, second]
            .iter()
            .for_each(tokio::task::JoinHandle::abort)
    };
    each_once(&world, &post, 2, end).await;
}
