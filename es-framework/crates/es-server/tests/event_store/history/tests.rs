//! The checker accepts correct histories and finds each kind of violation.

use super::*;

fn subject(name: &str) -> Subject {
    name.parse().unwrap()
}

fn event(id: u64, name: &str, write: usize, part: usize) -> ObservedEvent {
    ObservedEvent {
        id,
        subject: subject(name),
        write,
        part,
    }
}

fn pristine(name: &str) -> Precondition {
    Precondition::SubjectIsPristine(subject(name))
}

fn write(
    (invoked, returned): (u64, u64),
    subjects: &[&str],
    precondition: Option<Precondition>,
    acknowledged: Option<&[ObservedEvent]>,
) -> Operation {
    let action = Action::Write {
        subjects: subjects.iter().map(|name| subject(name)).collect(),
        preconditions: precondition.into_iter().collect(),
        acknowledged: acknowledged.map(<[_]>::to_vec),
    };
    Operation {
        invoked,
        returned,
        action,
    }
}

fn read_all((invoked, returned): (u64, u64), seen: &[ObservedEvent]) -> Operation {
    let action = Action::Read {
        base: Subject::root(),
        recursive: true,
        seen: seen.to_vec(),
    };
    Operation {
        invoked,
        returned,
        action,
    }
}

/// Returns two sequential writes and their log. The second write has two events.
fn two_writes() -> (Vec<ObservedEvent>, Vec<Operation>) {
    let log = vec![
        event(0, "/a", 0, 0),
        event(1, "/a", 1, 0),
        event(2, "/b", 1, 1),
    ];
    let history = vec![
        write((0, 9), &["/a"], Some(pristine("/a")), Some(&log[..1])),
        write((10, 19), &["/a", "/b"], None, Some(&log[1..])),
    ];
    (log, history)
}

#[test]
fn a_history_with_an_order_is_accepted() {
    let (log, mut history) = two_writes();
    history.extend([
        write((11, 12), &["/b"], Some(pristine("/a")), None),
        // The read overlaps with the second write and may or may not see it.
        read_all((11, 13), &log[..1]),
        read_all((11, 14), &log),
        write((14, 20), &["/b"], Some(pristine("/b")), None),
    ]);
    assert_eq!(check(&log, &history), Ok(()));
}

#[test]
fn an_acknowledged_write_that_is_lost_is_found() {
    let (log, history) = two_writes();
    let lost = check(&log[..1], &history);
    assert_eq!(lost, Err(Violation::NotAsAcknowledged(1)));
    let half = check(&log[..2], &history[..]);
    assert_eq!(half.unwrap_err(), Violation::NotAsAcknowledged(1));
}

#[test]
fn a_write_that_was_carried_out_twice_is_found() {
    let (mut log, history) = two_writes();
    log.push(event(3, "/a", 0, 0));
    let twice = check(&log, &history);
    assert_eq!(twice, Err(Violation::NotAsAcknowledged(0)));
}

#[test]
fn a_refused_write_in_the_log_is_found() {
    let (mut log, mut history) = two_writes();
    history.push(write((20, 29), &["/a"], Some(pristine("/a")), None));
    log.push(event(3, "/a", 2, 0));
    let expected = Err(Violation::WrittenThoughNotAcknowledged(2));
    assert_eq!(check(&log, &history), expected);
}

#[test]
fn a_gap_is_found() {
    let (mut log, history) = two_writes();
    log[2].id = 3;
    assert_eq!(check(&log, &history), Err(Violation::Gap(2)));
}

#[test]
fn a_write_whose_precondition_was_broken_is_found() {
    let (log, mut history) = two_writes();
    history[1] = write(
        (10, 19),
        &["/a", "/b"],
        Some(pristine("/a")),
        Some(&log[1..]),
    );
    let broken = check(&log, &history);
    assert_eq!(broken, Err(Violation::PreconditionDidNotHold(1)));
}

#[test]
fn a_write_before_one_that_was_over_is_found() {
    let (log, mut history) = two_writes();
    (history[0].invoked, history[0].returned) = (30, 39);
    assert_eq!(check(&log, &history), Err(Violation::BeforeItsPast(0)));
}

#[test]
fn a_refusal_without_a_reason_is_found() {
    let (log, mut history) = two_writes();
    // After the first write alone, /b was pristine.
    history.push(write((0, 9), &["/b"], Some(pristine("/b")), None));
    let refused = check(&log, &history);
    assert_eq!(refused, Err(Violation::RefusedWithoutReason(2)));
}

#[test]
fn a_read_of_the_past_the_future_or_half_a_write_is_found() {
    let (log, history) = two_writes();
    for (ticks, seen) in [
        ((20, 29), &log[..1]),
        ((0, 9), &log[..]),
        ((11, 18), &log[..2]),
        ((11, 18), &log[1..]),
    ] {
        let mut history = history.clone();
        history.push(read_all(ticks, seen));
        let read = check(&log, &history);
        assert_eq!(read, Err(Violation::ReadOfNoMoment(2)), "{seen:?}");
    }
}

#[test]
fn a_read_that_goes_back_behind_another_is_found() {
    let (log, mut history) = two_writes();
    history.push(read_all((11, 12), &log));
    history.push(read_all((13, 14), &log[..1]));
    let back = check(&log, &history);
    assert_eq!(back, Err(Violation::ReadOfNoMoment(3)));
}
