//! A sink delivers each durable event at least once and always with the same id and content, and those of a subject in
//! their order. Nothing else arrives, nothing before it is durable, and no personal value.

use std::collections::{BTreeMap, BTreeSet};

use super::{LogFold, RunRecord, log_fold::LoggedEvent};
use crate::simulation::{news_receiver::ArrivedEvent, owner_domain::NAME_PREFIX};

pub(super) fn collect_violations(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    let transfers = log.events_named("TransferReceivedEvent");
    let transfers = transfers.map(|event| (format!("{}/tell_transfer/0/0", event.id), event));
    let owners = log.events_named("OwnerNamedEvent");
    let owners = owners.map(|event| (format!("{}/tell_owner/0/0", event.id), event));
    let published: BTreeMap<_, _> = transfers.chain(owners).collect();
    let mut seen = BTreeSet::new();
    let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
    for arrived in &run.arrived {
        let id = &arrived.id;
        let Some(event) = published.get(id) else {
            violations.push(format!("{id} was delivered and has no event"));
            continue;
        };
        if arrived.durable <= event.id {
            violations.push(format!("{id} was delivered before it was durable"));
        }
        if !is_content(arrived, event) {
            violations.push(format!("{id} was delivered as {arrived:?}"));
        }
        let newest = newest.entry(&event.subject).or_default();
        if seen.insert(id) && *newest > event.id {
            violations.push(format!("{id} was delivered after event {newest}"));
        }
        *newest = event.id.max(*newest);
    }
    let missing = published.keys().filter(|id| !seen.contains(id));
    violations.extend(missing.map(|id| format!("{id} was never delivered")));
}

fn is_content(arrived: &ArrivedEvent, event: &LoggedEvent) -> bool {
    arrived.subject == event.subject
        && arrived.data["operation"].as_i64() == Some(event.payload_number("operation"))
        && !arrived.data.to_string().contains(NAME_PREFIX)
}
