//! Nothing acknowledged is lost, nothing is carried out twice, and a refusal fits a moment between its
//! request and its answer.

use super::{LogFold, RunRecord, log_fold::LoggedEvent, unique_invariants::is_taken};
use crate::{
    event::EventId,
    simulation::{
        badge_domain::badge_name,
        operation::{Attempt, AttemptResult, ClientOperation, OperationRecord, WALLETS},
    },
};

pub(super) fn collect_violations(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    check_tips(run, log, violations);
    for record in &run.operations {
        if matches!(record.operation, ClientOperation::TipWallet { .. }) {
            continue;
        }
        let written = log.events_of_operation(record.number);
        let subjects = record.operation.subjects();
        if written.len() > subjects.len() {
            let places: Vec<_> = written.iter().map(|event| event.id).collect();
            violations.push(format!(
                "{} was carried out twice: events {places:?}",
                named(record)
            ));
            continue;
        }
        // After an erasure, a repeated request is refused although it was carried out before.
        let person = record.operation.person();
        if person.is_some_and(|person| run.erased.contains(&person)) {
            continue;
        }
        let is_complete = written.is_empty() || written.len() == subjects.len();
        let is_in_place = written
            .iter()
            .zip(&subjects)
            .all(|(event, subject)| event.subject == *subject);
        if !is_complete || !is_in_place {
            violations.push(format!("{} was carried out in part", named(record)));
        }
        for attempt in &record.attempts {
            check_attempt(record, attempt, &written, log, violations);
        }
        check_end(record, &written, violations);
    }
}

/// Checks that the log contains each acknowledged tip, and no tip twice. Tips are only counted, because
/// their events are the same.
fn check_tips(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    for wallet in (0..WALLETS).map(|id| format!("/wallets/{id}")) {
        let tips = run.operations.iter().filter(|record| {
            let is_tip = matches!(record.operation, ClientOperation::TipWallet { .. });
            is_tip && record.operation.subjects().contains(&wallet)
        });
        let (mut least, mut most) = (0, 0);
        for record in tips {
            let has = |is_such: fn(&AttemptResult) -> bool| {
                record
                    .attempts
                    .iter()
                    .any(|attempt| is_such(&attempt.result))
            };
            let is_done = has(|result| matches!(result, AttemptResult::Acknowledged { .. }));
            let is_possible = is_done || has(|result| matches!(result, AttemptResult::Unknown));
            least += usize::from(is_done);
            most += usize::from(is_possible);
        }
        let written = log.events_named("WalletTippedEvent");
        let written = written.filter(|event| event.subject == wallet).count();
        if !(least..=most).contains(&written) {
            violations.push(format!(
                "{least} tips of {wallet} were acknowledged and {most} sent, but {written} recorded"
            ));
        }
    }
}

fn check_attempt(
    record: &OperationRecord,
    attempt: &Attempt,
    written: &[&LoggedEvent],
    log: &LogFold,
    violations: &mut Vec<String>,
) {
    match &attempt.result {
        AttemptResult::Acknowledged { position, latest } => {
            if written.is_empty() {
                violations.push(format!("{} was acknowledged and is lost", named(record)));
            }
            if written.iter().any(|event| event.id >= attempt.length_after) {
                violations.push(format!(
                    "{} was acknowledged before it was recorded",
                    named(record)
                ));
            }
            let own = written.first().map(|event| event.id);
            let last = written.last().map(|event| event.id);
            let is_outcome = latest.map(EventId::get) == own && position.map(EventId::get) >= last;
            if !written.is_empty() && !is_outcome {
                let outcome = format!("{position:?}, {latest:?}");
                violations.push(format!("{} has another outcome: {outcome}", named(record)));
            }
        }
        AttemptResult::Refused(reason) if !fits_a_moment(record, attempt, reason, log) => {
            violations.push(format!(
                "{} was refused at no possible moment: {reason}",
                named(record)
            ));
        }
        AttemptResult::Refused(_) | AttemptResult::NotDone | AttemptResult::Unknown => {}
    }
}

/// Checks the events of an operation that ended without an acknowledgement.
fn check_end(record: &OperationRecord, written: &[&LoggedEvent], violations: &mut Vec<String>) {
    let results = || record.attempts.iter().map(|attempt| &attempt.result);
    let is_refused = results().any(|result| matches!(result, AttemptResult::Refused(_)));
    let is_never_done = results().all(|result| matches!(result, AttemptResult::NotDone));
    if !written.is_empty() && (is_refused || is_never_done) {
        violations.push(format!(
            "{} was not carried out, but has events",
            named(record)
        ));
    }
    let begin = record
        .attempts
        .first()
        .map_or(0, |attempt| attempt.length_before);
    if written.iter().any(|event| event.id < begin) {
        violations.push(format!("{} has events before it began", named(record)));
    }
}

/// Returns whether the reason of a refusal was true at a moment between the request and the answer.
fn fits_a_moment(record: &OperationRecord, attempt: &Attempt, reason: &str, log: &LogFold) -> bool {
    let exists = |subject: &str, length: u64| {
        log.events
            .iter()
            .any(|event| event.subject == subject && event.id < length)
    };
    let mut lengths = attempt.length_before..=attempt.length_after;
    if let Some(subject) = reason.strip_suffix(" does not exist") {
        return !exists(subject, attempt.length_before);
    }
    if let Some(subject) = reason.strip_suffix(" already exists") {
        return exists(subject, attempt.length_after);
    }
    match (record.operation, reason.split_once(": ")) {
        (ClientOperation::Transfer { from, amount, .. }, Some(("too-little", balance))) => {
            let Ok(balance) = balance.parse::<i64>() else {
                return false;
            };
            let wallet = format!("/wallets/{from}");
            balance < amount
                && lengths.any(|length| {
                    let wallets = log.wallets_after(length);
                    let wallet = wallets.and_then(|wallets| wallets.get(&wallet));
                    wallet.is_some_and(|(held, _)| *held == balance)
                })
        }
        (ClientOperation::AcceptOffer { id }, Some(("offer-ended", _))) => {
            let subject = format!("/offers/{id}");
            let ends = ["OfferAcceptedEvent", "OfferExpiredEvent"];
            let mut events = log.events.iter();
            events.any(|event| {
                let ends = ends.contains(&event.name.as_str());
                ends && event.subject == subject && event.id < attempt.length_after
            })
        }
        (ClientOperation::WearBadge { id, badge }, _) if reason.contains("that is taken") => {
            badge_name(badge)
                .is_some_and(|badge| is_taken(log, &format!("/holders/{id}"), &badge, lengths))
        }
        _ => false,
    }
}

fn named(record: &OperationRecord) -> String {
    let results: Vec<_> = record
        .attempts
        .iter()
        .map(|attempt| &attempt.result)
        .collect();
    format!(
        "operation {} {:?} {results:?}",
        record.number, record.operation
    )
}
