//! The events of a program that kept its checkpoints among them. It had met two deadlines, made calls beyond one that
//! never ended, held a subject, skipped two events, and met a time of a schedule. Then it was killed.

use std::sync::Mutex;

use es_store::backup::BackupLine;

use super::*;
use crate::{
    command::Parameter,
    reaction::{
        ClockMove, MissedTimes, PendingCall, SCHEDULE_STARTED, Schedule, box_call, check_call,
    },
};

const EVENTS: &str = include_str!("fixtures/checkpoints_in_the_log.ndjson");
/// The time at which the program was killed.
const KILLED_AT: &str = "2026-02-02T03:00:00Z";

/// The invoices whose parcels were sent.
#[derive(Default, Service)]
struct ParcelService {
    sent: Mutex<Vec<String>>,
}

struct ParcelSender;

fn send_parcel(
    view: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
) -> Result<PendingCall, ReactionError> {
    let parcels = context.service::<ParcelService>("ParcelService")?;
    let InvoiceSentEvent { id, .. } = view.payload()?;
    Ok(box_call(async move {
        parcels.sent.lock().unwrap().push(id);
        Ok::<_, ReactionError>(())
    }))
}

impl React for ParcelSender {
    const NAME: &'static str = "ParcelSender";
    const START: StartPosition = StartPosition::First;
    const ATTEMPTS: u32 = 1;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "send",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Call(send_parcel),
        parameters: check_call(&[Parameter::injected::<ParcelService>("parcels")], false),
        commands: Vec::new,
    }];
}

struct Nightly;

impl React for Nightly {
    const NAME: &'static str = "Nightly";
    const START: StartPosition = StartPosition::New;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "list",
        event: SCHEDULE_STARTED,
        when: ReactionTiming::Schedule(Schedule {
            cron: "30 2 * * *",
            zone: "Europe/Berlin",
            missed: MissedTimes::One,
        }),
        action: ReactionAction::Send(|_, context, commands| {
            let id = context.time().strftime("%m-%dT%H-%M-%S").to_string();
            RemindPayerCommand { id }.add_to(commands)
        }),
        parameters: &[],
        commands: Vec::new,
    }];
}

/// Returns a store with the events of the program.
async fn world() -> (World, Arc<ParcelService>) {
    let mut world = World::at(KILLED_AT);
    let parcels = Arc::new(ParcelService::default());
    world.services = world.services.with_shared(Arc::clone(&parcels));
    for line in EVENTS.lines() {
        if let BackupLine::Event(event) = BackupLine::parse_line(line.as_bytes()).unwrap() {
            let candidate = EventCandidate {
                source: "test".into(),
                subject: event.subject.clone(),
                event_type: event.event_type.clone(),
                data: event.data.clone(),
                trace: None,
            };
            let recorded = world.store.append(vec![candidate], vec![]).await.unwrap();
            assert_eq!(recorded[0].id, event.id);
        }
    }
    (world, parcels)
}

#[tokio::test]
async fn a_reaction_goes_on_where_an_older_program_was_killed_and_repeats_no_call() {
    let (world, parcels) = world().await;
    let (running, operator) = world.start(&[ReactionDescriptor::of::<ParcelSender>()]);
    // The held subject is retried at the start, and nobody knows whether the call of the killed program was made.
    eventually(async || parcels.sent.lock().unwrap().len() >= 2).await;
    world.send("new").await;
    eventually(async || parcels.sent.lock().unwrap().contains(&"new".to_owned())).await;
    eventually(async || operator.held("ParcelSender").is_empty()).await;
    let mut sent = parcels.sent.lock().unwrap().clone();
    sent.sort();
    assert_eq!(sent, ["lost", "new", "refused"]);
    running.abort();
}

#[tokio::test]
async fn the_deadlines_that_an_older_program_had_open_are_met() {
    let (world, _) = world().await;
    let before = world.reminded().await.len();
    let times = [KILLED_AT, DUE].map(|time| ClockMove::Jump(time.parse().unwrap()));
    let dunning = ReactionDescriptor::of::<Dunning>();
    let ran = crate::reaction::catch_up_at(world.runtime(), dunning, &times).await;
    ran.unwrap();
    let reminded = world.reminded().await;
    let mut later = reminded.into_iter().skip(before).collect::<Vec<_>>();
    later.sort();
    let expected = ["late", "lost", "open", "paid", "refused", "refused-later"];
    assert_eq!(later, expected.map(|id| format!("/invoices/{id}")));
}

#[tokio::test]
async fn a_schedule_of_an_older_program_goes_on_with_its_next_time() {
    let (world, _) = world().await;
    let before = world.reminded().await.len();
    let times =
        [KILLED_AT, "2026-02-03T01:30:00Z"].map(|time| ClockMove::Jump(time.parse().unwrap()));
    let nightly = ReactionDescriptor::of::<Nightly>();
    let ran = crate::reaction::catch_up_at(world.runtime(), nightly, &times).await;
    ran.unwrap();
    let reminded = world.reminded().await;
    assert_eq!(reminded[before..], ["/invoices/02-03T01-30-00"]);
}
