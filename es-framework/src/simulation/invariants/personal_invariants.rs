//! Nothing plain of an erased person is stored, and everybody else is read as they are called.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{LogFold, RunRecord};
use crate::{
    event::RecordedEvent,
    simulation::owner_domain::{ERASED_NAME, NAME_PREFIX, OwnerRow, owner_name},
};

pub(super) fn collect_violations(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    for (event, _) in &run.events {
        if event.data.get().contains(NAME_PREFIX) {
            let (id, data) = (event.id, &event.data);
            violations.push(format!("event {id} stores a plain name: {data}"));
        }
    }
    check_opened_events(run, log, violations);
    let mut names = BTreeMap::new();
    for event in log.events_named("OwnerNamedEvent") {
        names.insert(event.subject.clone(), event.payload_number("operation"));
    }
    for (instance, rows) in &run.owners {
        let rows = rows.as_deref().unwrap_or_default();
        violations.extend(find_plain_row(instance, rows, &run.erased));
        let others = rows.iter().filter(|row| !run.erased.contains(&row.id));
        for row in others {
            let operation = names.get(&format!("/owners/{}", row.id));
            if operation.is_none_or(|operation| row.name != owner_name(*operation)) {
                violations.push(format!(
                    "{instance} calls an owner by another name: {row:?} of operation {operation:?}"
                ));
            }
        }
        if rows.len() != names.len() {
            violations.push(format!(
                "{instance} has other owners than {names:?}: {rows:?}"
            ));
        }
    }
}

/// Checks that the keys on the disk open the events of everybody but the erased.
fn check_opened_events(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    // The names of the erased, and the name in the event of anybody else.
    let (mut erased, mut others) = (Vec::new(), BTreeMap::new());
    for event in log.events_named("OwnerNamedEvent") {
        let id = event.subject.trim_start_matches("/owners/").parse::<Uuid>();
        let name = format!("\"{}\"", owner_name(event.payload_number("operation")));
        if id.is_ok_and(|id| run.erased.contains(&id)) {
            erased.push(name);
        } else {
            others.insert(event.id, name);
        }
    }
    for opened in &run.opened {
        let RecordedEvent { id, data, .. } = match opened {
            Ok(event) => event,
            Err(error) => {
                violations.push(format!(
                    "an event is closed to the keys that are left: {error}"
                ));
                continue;
            }
        };
        if erased.iter().any(|name| data.get().contains(name)) {
            violations.push(format!(
                "event {id} of an erased person opens with the keys that are left: {data}"
            ));
        }
        let name = others.get(&id.get());
        if let Some(name) = name.filter(|name| !data.get().contains(*name)) {
            violations.push(format!("event {id} has lost the name {name}: {data}"));
        }
    }
}

/// Describes a row with the name of an erased person.
pub(in crate::simulation) fn find_plain_row(
    instance: &str,
    rows: &[OwnerRow],
    erased: &BTreeSet<Uuid>,
) -> Option<String> {
    let mut rows = rows.iter();
    let row = rows.find(|row| erased.contains(&row.id) && row.name != ERASED_NAME)?;
    Some(format!(
        "{instance} stores something plain of an erased person: {row:?}"
    ))
}
