//! Schedules: each time once, over restarts, jumps of the clock and several instances.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::reaction::{ClockMove, MissedTimes, SCHEDULE_STARTED, Schedule};

/// A handwritten reaction that sends a command at half past two in Berlin, with this rule for missed times.
macro_rules! nightly {
    ($name:ident, $missed:ident, $cron:literal) => {
        struct $name;

        impl React for $name {
            const NAME: &'static str = stringify!($name);
            const START: StartPosition = StartPosition::New;
            const DECLARATION: Declaration = declaration!();
            const STEPS: &'static [ReactionStep] = &[ReactionStep {
                name: "list",
                event: SCHEDULE_STARTED,
                when: ReactionTiming::Schedule(Schedule {
                    cron: $cron,
                    zone: "Europe/Berlin",
                    missed: MissedTimes::$missed,
                }),
                action: ReactionAction::Send(send_time),
                parameters: &[],
                commands: Vec::new,
            }];
        }
    };
}

nightly!(LastMissed, One, "30 2 * * *");
nightly!(EachMissed, All, "30 2 * * *");
nightly!(NoneMissed, None, "30 2 * * *");
nightly!(EachMinute, All, "* * * * *");
nightly!(NoTime, One, "61 2 * * *");

/// The id of the invoice is the time.
fn send_time(
    _: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
    commands: &mut OutgoingCommands,
) -> Result<(), ReactionError> {
    let id = context.time().strftime("%m-%dT%H-%M-%S").to_string();
    RemindPayerCommand { id }.add_to(commands)
}

impl World {
    fn set(&self, time: &str) {
        self.clock.set(time.parse().unwrap());
    }

    /// The times of the commands that were sent, in the order of the store.
    async fn sent_times(&self) -> Vec<String> {
        let reminded = self.reminded().await.into_iter();
        let times = reminded.map(|subject| subject.replace("/invoices/", ""));
        times.collect()
    }

    /// Lets a reaction run now and at later times, and returns the times of its commands.
    async fn sent_at<R: React>(&self, times: &[&str]) -> Vec<String> {
        let now = [self.clock.now()];
        let later = times.iter().map(|time| time.parse().unwrap());
        let times: Vec<_> = now.into_iter().chain(later).map(ClockMove::Jump).collect();
        let reaction = ReactionDescriptor::of::<R>();
        let ran = crate::reaction::catch_up_at(self.runtime(), reaction, &times).await;
        ran.unwrap();
        self.sent_times().await
    }
}

#[tokio::test]
async fn a_schedule_begins_after_its_first_start_and_sends_at_each_time() {
    let world = World::at("2026-07-01T00:30:00Z");
    let days = ["2026-07-02T00:29:59Z", "2026-07-02T00:30:00Z"];
    let sent = world.sent_at::<LastMissed>(&days).await;
    assert_eq!(sent, ["07-02T00-30-00"]);
    let sent = world.sent_at::<LastMissed>(&["2026-07-03T12:00:00Z"]).await;
    assert_eq!(sent, ["07-02T00-30-00", "07-03T00-30-00"]);
}

#[tokio::test]
async fn a_schedule_writes_nothing_before_its_first_time_and_starts_anew_until_then() {
    let world = World::at("2026-07-01T12:00:00Z");
    assert_eq!(world.sent_at::<EachMissed>(&[]).await, [""; 0]);
    let mut events = world.store.read(Subject::root(), ReadOptions::recursive());
    assert!(events.try_next().await.unwrap().is_none());
    world.set("2026-07-03T12:00:00Z");
    let sent = world.sent_at::<EachMissed>(&["2026-07-04T00:30:00Z"]).await;
    assert_eq!(sent, ["07-04T00-30-00"]);
    let sent = world.sent_at::<EachMissed>(&["2026-07-06T00:30:00Z"]).await;
    assert_eq!(sent, ["07-04T00-30-00", "07-05T00-30-00", "07-06T00-30-00"]);
}

#[tokio::test]
async fn a_skipped_time_is_met_after_the_gap_and_a_repeated_one_once() {
    // On 29 March the clock goes from 02:00 to 03:00 at 01:00 UTC.
    let spring = World::at("2026-03-28T12:00:00Z");
    let times = [
        "2026-03-29T00:59:59Z",
        "2026-03-29T01:00:00Z",
        "2026-03-29T23:00:00Z",
        "2026-03-30T12:00:00Z",
    ];
    let sent = spring.sent_at::<EachMissed>(&times).await;
    assert_eq!(sent, ["03-29T01-00-00", "03-30T00-30-00"]);
    // On 25 October it goes from 03:00 to 02:00 at 01:00 UTC.
    let autumn = World::at("2026-10-24T12:00:00Z");
    let times = [
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T23:00:00Z",
        "2026-10-26T12:00:00Z",
    ];
    let sent = autumn.sent_at::<EachMissed>(&times).await;
    assert_eq!(sent, ["10-25T00-30-00", "10-26T01-30-00"]);
}

#[tokio::test]
async fn missed_times_are_made_up_for_as_the_schedule_says() {
    const START: &str = "2026-07-01T12:00:00Z";
    const BACK: [&str; 2] = ["2026-07-05T12:00:00Z", "2026-07-06T00:30:59Z"];
    let sent = World::at(START).sent_at::<LastMissed>(&BACK).await;
    assert_eq!(sent, ["07-05T00-30-00", "07-06T00-30-00"]);
    let sent = World::at(START).sent_at::<EachMissed>(&BACK).await;
    let days = ["02", "03", "04", "05", "06"].map(|day| format!("07-{day}T00-30-00"));
    assert_eq!(sent, days);
    let sent = World::at(START).sent_at::<NoneMissed>(&BACK).await;
    assert_eq!(sent, ["07-06T00-30-00"]);
}

#[tokio::test]
async fn the_newest_hundred_missed_times_are_made_up_for() {
    let world = World::at("2026-07-01T00:00:00Z");
    let sent = world.sent_at::<EachMinute>(&["2026-07-01T05:00:00Z"]).await;
    let hours_and_minutes = (201..=300).map(|minute| (minute / 60, minute % 60));
    let expected = hours_and_minutes.map(|(h, m)| format!("07-01T{h:02}-{m:02}-00"));
    assert_eq!(sent, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn the_minutes_that_the_clock_skips_are_one_missed_time() {
    // On 29 March in Berlin, the minute after 01:59 is 03:00.
    let world = World::at("2026-03-28T23:00:00Z");
    let sent = world.sent_at::<EachMinute>(&["2026-03-29T01:30:00Z"]).await;
    let minutes = (51..=150).map(|minute| (minute + 23 * 60) % (24 * 60));
    let expected = minutes.map(|minute| {
        let day = if minute >= 23 * 60 { 28 } else { 29 };
        format!("03-{day}T{:02}-{:02}-00", minute / 60, minute % 60)
    });
    assert_eq!(sent, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_clock_that_goes_back_repeats_no_time() {
    let world = World::at("2026-07-01T12:00:00Z");
    let times = [
        "2026-07-02T12:00:00Z",
        "2026-07-01T12:00:00Z",
        "2026-07-02T00:30:00Z",
        "2026-07-03T00:29:00Z",
    ];
    let sent = world.sent_at::<EachMissed>(&times).await;
    assert_eq!(sent, ["07-02T00-30-00"]);
}

#[tokio::test]
async fn several_instances_that_are_killed_send_each_time_once_over_both_changes_of_summer_time() {
    for (start, times, expected) in [
        (
            "2026-03-27T12:00:00Z",
            [
                "2026-03-28T02:00:00Z",
                "2026-03-29T01:00:00Z",
                "2026-03-30T00:30:00Z",
                "2026-04-01T12:00:00Z",
            ],
            [
                "03-28T01-30-00",
                "03-29T01-00-00",
                "03-30T00-30-00",
                "03-31T00-30-00",
                "04-01T00-30-00",
            ],
        ),
        (
            "2026-10-23T12:00:00Z",
            [
                "2026-10-24T00:30:00Z",
                "2026-10-25T00:45:00Z",
                "2026-10-26T12:00:00Z",
                "2026-10-28T12:00:00Z",
            ],
            [
                "10-24T00-30-00",
                "10-25T00-30-00",
                "10-26T01-30-00",
                "10-27T01-30-00",
                "10-28T01-30-00",
            ],
        ),
    ] {
        let world = World::at(start);
        let reactions = [ReactionDescriptor::of::<EachMissed>()];
        let (first, operator) = world.start(&reactions);
        let open = || operator.progress("EachMissed").open_deadlines().count;
        eventually(async || open() == 1).await;
        let others = (0..2).map(|_| world.start(&reactions).0);
        let mut instances: Vec<_> = [first].into_iter().chain(others).collect();
        for (number, time) in times.into_iter().enumerate() {
            world.set(time);
            let is_last = number + 1 == times.len();
            let count = if is_last { expected.len() } else { number + 1 };
            eventually(async || world.sent_times().await.len() >= count).await;
            // One instance is killed at once, with or without the row of its next time.
            instances.remove(0).abort();
            instances.push(world.start(&reactions).0);
        }
        instances.iter().for_each(tokio::task::JoinHandle::abort);
        world.catch_up::<EachMissed>().await;
        let mut sent = world.sent_times().await;
        sent.sort();
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn the_next_time_is_an_open_deadline_that_a_start_finds() {
    let world = World::at("2026-07-01T12:00:00Z");
    let (running, operator) = world.start(&[ReactionDescriptor::of::<LastMissed>()]);
    let next = || {
        let progress = operator.progress("LastMissed").open_deadlines();
        progress.next.map(|next| next.to_string())
    };
    eventually(async || next().as_deref() == Some("2026-07-02T00:30:00Z")).await;
    world.set("2026-07-02T00:30:00Z");
    eventually(async || next().as_deref() == Some("2026-07-03T00:30:00Z")).await;
    running.abort();
    // A start finds it in the state database.
    let (running, operator) = world.start(&[ReactionDescriptor::of::<LastMissed>()]);
    let next = || {
        let progress = operator.progress("LastMissed").open_deadlines();
        progress.next.map(|next| next.to_string())
    };
    eventually(async || next().as_deref() == Some("2026-07-03T00:30:00Z")).await;
    running.abort();
    assert_eq!(world.sent_times().await, ["07-02T00-30-00"]);
}

#[tokio::test]
async fn a_clock_that_was_ahead_for_a_moment_is_reported_and_a_retry_lets_the_schedule_go_on() {
    let world = World::at("2026-07-01T12:00:00Z");
    let reactions = [ReactionDescriptor::of::<LastMissed>()];
    let (first, operator) = world.start(&reactions);
    let (second, other) = world.start(&reactions);
    let next = |operator: &Operator| {
        let open = operator.progress("LastMissed").open_deadlines();
        open.next.map(|next| next.to_string()).unwrap_or_default()
    };
    let trouble = |operator: &Operator| {
        let state = operator.progress("LastMissed").state();
        state.trouble().map(|trouble| trouble.reason.clone())
    };
    eventually(async || next(&operator) == "2026-07-02T00:30:00Z").await;
    world.set("2026-07-02T00:30:00Z");
    for operator in [&operator, &other] {
        eventually(async || next(operator) == "2026-07-03T00:30:00Z").await;
        assert_eq!(trouble(operator), None);
    }
    world.set("2026-07-13T12:00:00Z");
    eventually(async || next(&operator) == "2026-07-14T00:30:00Z").await;
    world.set("2026-07-02T12:00:05Z");
    eventually(async || trouble(&operator).is_some()).await;
    let reason = trouble(&operator).unwrap();
    assert!(
        reason.contains("before 2026-07-14T00:30:00Z: check the clock, then retry"),
        "{reason}"
    );
    assert_eq!(
        operator.progress("LastMissed").exits(),
        [OperatorCommand::Retry]
    );

    let retried = operator.retried("LastMissed", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (0, 0));
    for operator in [&operator, &other] {
        eventually(async || next(operator) == "2026-07-03T00:30:00Z").await;
        eventually(async || trouble(operator).is_none()).await;
    }
    let sent = [
        "07-02T00-30-00",
        "07-13T00-30-00",
        "07-03T00-30-00",
        "07-04T00-30-00",
    ];
    world.set("2026-07-03T00:30:00Z");
    eventually(async || world.sent_times().await == sent[..3]).await;
    eventually(async || next(&operator) == "2026-07-04T00:30:00Z").await;
    first.abort();
    second.abort();
    // A start goes on behind the two.
    let (third, operator) = world.start(&reactions);
    eventually(async || next(&operator) == "2026-07-04T00:30:00Z").await;
    world.set("2026-07-04T00:30:00Z");
    eventually(async || world.sent_times().await == sent).await;
    third.abort();
}

static IS_BROKEN: AtomicBool = AtomicBool::new(true);

fn send_unless_broken(
    event: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
    commands: &mut OutgoingCommands,
) -> Result<(), ReactionError> {
    assert!(!IS_BROKEN.load(Ordering::Relaxed), "the list is broken");
    send_time(event, context, commands)
}

/// A reaction with two schedules, of which the first one may fail.
struct ListAndCount;

const fn each_morning(
    name: &'static str,
    cron: &'static str,
    send: crate::reaction::SendFunction,
) -> ReactionStep {
    ReactionStep {
        name,
        event: SCHEDULE_STARTED,
        when: ReactionTiming::Schedule(Schedule {
            cron,
            zone: "UTC",
            missed: MissedTimes::All,
        }),
        action: ReactionAction::Send(send),
        parameters: &[],
        commands: Vec::new,
    }
}

impl React for ListAndCount {
    const NAME: &'static str = "ListAndCount";
    const START: StartPosition = StartPosition::New;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[
        each_morning("list", "0 6 * * *", send_unless_broken),
        each_morning("count", "0 7 * * *", send_time),
    ];
}

#[tokio::test]
async fn a_schedule_whose_function_fails_waits_alone_and_goes_on_after_a_retry() {
    let world = World::at("2026-07-01T12:00:00Z");
    let (running, operator) = world.start(&[ReactionDescriptor::of::<ListAndCount>()]);
    let open = || operator.progress("ListAndCount").open_deadlines().count;
    let held = || operator.held("ListAndCount");
    eventually(async || open() == 2).await;
    world.set("2026-07-02T06:00:00Z");
    eventually(async || held() == ["/es-framework/schedules/ListAndCount/list"]).await;
    world.set("2026-07-02T07:00:00Z");
    eventually(async || world.sent_times().await == ["07-02T07-00-00"]).await;
    assert_eq!(open(), 1);
    world.set("2026-07-03T06:30:00Z");
    IS_BROKEN.store(false, Ordering::Relaxed);
    let retried = operator.retried("ListAndCount", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 1));
    let expected = ["07-02T07-00-00", "07-02T06-00-00", "07-03T06-00-00"];
    assert_eq!(world.sent_times().await, expected);
    eventually(async || open() == 2 && held().is_empty()).await;
    running.abort();
}

#[tokio::test]
async fn a_wrong_schedule_stops_its_reaction_with_a_sentence() {
    let world = World::at("2026-07-01T12:00:00Z");
    let (running, operator) = world.start(&[ReactionDescriptor::of::<NoTime>()]);
    eventually(async || running.is_finished()).await;
    let state = operator.progress("NoTime").state();
    let reason = &state.trouble().unwrap().reason;
    assert!(
        reason.starts_with("the schedule `61 2 * * *` in the zone Europe/Berlin is refused: "),
        "{reason}"
    );
}
