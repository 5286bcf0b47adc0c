//! Each deadline fires once, unless it was cancelled in time, and each command and call of a reaction
//! happens once.

use std::collections::BTreeMap;

use super::{LogFold, RunRecord, log_fold::LoggedEvent};
use crate::simulation::printer_connection::PrintedReceipt;

pub(super) fn collect_violations(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    for sent in log.events_named("TransferSentEvent") {
        let operation = sent.payload_number("operation");
        let counted = log.events_named("TransferCountedEvent");
        let counted = counted
            .filter(|event| event.payload_number("operation") == operation)
            .count();
        if counted != 1 {
            violations.push(format!(
                "a reaction counted transfer {operation} {counted} times"
            ));
        }
        let text = format!("transfer {operation}");
        check_receipts(run, &text, 1..=1, violations);
    }
    check_order(run, log, violations);
    for placed in log.events_named("OfferOpenedEvent") {
        check_deadline(run, log, placed, violations);
    }
}

/// Checks that the receipts of each wallet were printed in the order of its events.
fn check_order(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    let mut last: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for received in log.events_named("TransferReceivedEvent") {
        let text = format!("transfer {}", received.payload_number("operation"));
        let mut printed = run.printed.iter();
        let Some(place) = printed.position(|receipt| receipt.text == text) else {
            continue;
        };
        let before = last.insert(&received.subject, (place, text.clone()));
        if let Some((_, before)) = before.filter(|(before, _)| *before > place) {
            violations.push(format!("{text} was printed before {before}"));
        }
    }
}

fn check_deadline(
    run: &RunRecord,
    log: &LogFold,
    placed: &LoggedEvent,
    violations: &mut Vec<String>,
) {
    let (id, until) = (placed.payload_number("id"), placed.payload_time("until"));
    let of_offer = |name| {
        log.events_named(name)
            .filter(|event| event.subject == placed.subject)
    };
    let settled = of_offer("OfferAcceptedEvent").next();
    let released: Vec<_> = of_offer("OfferExpiredEvent").collect();
    // An event that is recorded before any clock shows the time of the deadline cancels it.
    let allowed = match settled {
        None => 1..=1,
        Some(settled) if settled.latest_time < until => 0..=0,
        Some(_) => 0..=1,
    };
    if !allowed.contains(&released.len()) {
        let count = released.len();
        violations.push(format!(
            "the deadline of offer {id} fired {count} times instead of {allowed:?}"
        ));
    }
    if released.iter().any(|event| event.latest_time < until) {
        violations.push(format!("the deadline of offer {id} fired before its time"));
    }
    check_receipts(run, &format!("offer {id}"), allowed, violations);
}

/// Checks how often a receipt was printed. The printer recognises a repetition by its key.
fn check_receipts(
    run: &RunRecord,
    text: &str,
    allowed: std::ops::RangeInclusive<usize>,
    violations: &mut Vec<String>,
) {
    let printed = run.printed.iter().filter(|receipt| receipt.text == text);
    let printed: Vec<_> = printed.collect();
    let mut keys: Vec<_> = printed.iter().map(|receipt| &receipt.key).collect();
    keys.sort_unstable();
    keys.dedup();
    if !allowed.contains(&keys.len()) {
        let count = keys.len();
        violations.push(format!(
            "{text} was printed under {count} keys instead of {allowed:?}"
        ));
    }
    for (first, second) in printed.iter().zip(printed.iter().skip(1)) {
        if !may_repeat(run, first, second) {
            violations.push(format!(
                "{text} was printed again without a reason: {first:?}, {second:?}"
            ));
        }
    }
}

/// Returns whether a process was killed before another one repeated its call.
fn may_repeat(run: &RunRecord, first: &PrintedReceipt, second: &PrintedReceipt) -> bool {
    let mut kills = run.kills.iter();
    kills.any(|kill| kill.process == first.process && kill.at <= second.begun)
}
