//! Compares the credentials and the roles that an operation requires.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

use super::{client_break::ClientBreak, operation_change::OperationChange};

/// One of the ways to call an operation: the schemes of its credentials, each with the roles that it needs.
/// Without a scheme, it stands for a service that does not authenticate its clients.
#[derive(Debug, PartialEq)]
struct AccessRequirement<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

/// Compares who may call an operation: in the committed document and in today's document.
pub(super) fn compare_access(before: &Value, after: &Value) -> Vec<OperationChange> {
    let (old, new) = (requirements(before), requirements(after));
    match (old.is_empty(), new.is_empty()) {
        (true, true) => return Vec::new(),
        // A public operation needs no credential, whatever the service authenticates.
        (false, true) => {
            let change = "it can be called with no credential, also if the service authenticates its clients";
            return vec![OperationChange::compatible(change.to_owned())];
        }
        (true, false) => {
            let open = AccessRequirement(BTreeMap::new());
            let change = difference(&new, &open);
            return vec![OperationChange::breaking(
                change,
                ClientBreak::CredentialRequired,
            )];
        }
        (false, false) => {}
    }
    let lost = old
        .iter()
        .filter(|one| !new.iter().any(|other| one.fulfills(other)));
    let mut changes: Vec<_> = lost
        .map(|one| {
            let breaks = if one.0.is_empty() {
                ClientBreak::CredentialRequired
            } else {
                ClientBreak::RoleRequired
            };
            OperationChange::breaking(difference(&new, one), breaks)
        })
        .collect();
    if changes.is_empty() {
        let wider = new.iter().find(|one| !old.contains(one));
        let change = wider.map(|one| format!("it can be called with {one}"));
        changes.extend(change.map(OperationChange::compatible));
    }
    changes
}

fn difference(new: &[AccessRequirement<'_>], old: &AccessRequirement<'_>) -> String {
    let credentials: Vec<_> = new
        .iter()
        .filter(|one| !one.0.is_empty())
        .map(ToString::to_string)
        .collect();
    let requirement = if credentials.is_empty() {
        "no credential".to_owned()
    } else {
        credentials.join(" or ")
    };
    format!("it requires {requirement}, and required {old}")
}

impl<'a> AccessRequirement<'a> {
    fn read(requirement: &'a Value) -> Self {
        let members = requirement.as_object().into_iter().flatten();
        let schemes = members.map(|(scheme, roles)| {
            let roles = roles.as_array().into_iter().flatten();
            (scheme.as_str(), roles.filter_map(Value::as_str).collect())
        });
        Self(schemes.collect())
    }

    /// Returns whether a client that fulfills this requirement also fulfills the other one.
    fn fulfills(&self, other: &Self) -> bool {
        let has = |(scheme, roles): (&&str, &BTreeSet<&str>)| {
            self.0.get(scheme).is_some_and(|own| roles.is_subset(own))
        };
        // A service that authenticates its clients does not fall back to the way without a credential.
        self.0.is_empty() == other.0.is_empty() && other.0.iter().all(has)
    }
}

impl fmt::Display for AccessRequirement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no credential");
        }
        for (index, (scheme, roles)) in self.0.iter().enumerate() {
            let and = if index == 0 { "" } else { " and " };
            write!(f, "{and}the credential {scheme}")?;
            for (index, role) in roles.iter().enumerate() {
                let with = if index == 0 { " with the role" } else { " and" };
                write!(f, "{with} {role}")?;
            }
        }
        Ok(())
    }
}

/// Returns the ways to call an operation.
fn requirements(operation: &Value) -> Vec<AccessRequirement<'_>> {
    match operation.get("security").and_then(Value::as_array) {
        Some(listed) => listed.iter().map(AccessRequirement::read).collect(),
        None => vec![AccessRequirement(BTreeMap::new())],
    }
}
