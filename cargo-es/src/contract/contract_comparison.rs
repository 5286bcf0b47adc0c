//! The comparison of two documents, and its report.

use std::{collections::BTreeMap, fmt};

use es_event::subject_template::shape;
use serde_json::Value;

use super::{
    DocumentReader, client_break::ClientBreak, operation_change::OperationChange,
    operation_comparison,
};

const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// The differences between a committed document and today's.
#[derive(Debug)]
pub(crate) struct ContractComparison {
    breaking: Vec<ContractChange>,
    compatible: Vec<ContractChange>,
}

/// One difference.
#[derive(Debug)]
struct ContractChange {
    /// The method and the path.
    operation: String,
    /// The file and the line of the declaration, if the operation still exists and the application declares it.
    declaration: Option<String>,
    change: OperationChange,
}

impl ContractComparison {
    /// Compares the documents. `locate` returns the declaration of a method and a path.
    pub(crate) fn new(
        committed: &Value,
        today: &Value,
        locate: impl Fn(&str, &str) -> Option<String>,
    ) -> Self {
        let readers = (DocumentReader(committed), DocumentReader(today));
        let (before, after) = (operations(committed), operations(today));
        let mut changes = vec![];
        for (key, (path, before)) in &before {
            let change = |operation: &str, declaration, change| ContractChange {
                operation: format!("{} {operation}", key.1.to_uppercase()),
                declaration,
                change,
            };
            match after.get(key) {
                None => {
                    let text = "the API no longer has this operation".to_owned();
                    let removed = OperationChange::breaking(text, ClientBreak::OperationRemoved);
                    changes.push(change(path, None, removed));
                }
                Some((path, after)) => {
                    let found = operation_comparison::compare_operations(readers, before, after);
                    let declaration = locate(key.1, path);
                    let found = found
                        .into_iter()
                        .map(|one| change(path, declaration.clone(), one));
                    changes.extend(found);
                }
            }
        }
        for ((_, method), (path, _)) in after.iter().filter(|(key, _)| !before.contains_key(key)) {
            let change = OperationChange::compatible("the operation is new".to_owned());
            changes.push(ContractChange {
                operation: format!("{} {path}", method.to_uppercase()),
                declaration: locate(method, path),
                change,
            });
        }
        let (breaking, compatible) = changes
            .into_iter()
            .partition(|change| change.change.breaks.is_some());
        Self {
            breaking,
            compatible,
        }
    }

    /// Returns whether a change breaks clients.
    pub(crate) fn is_breaking(&self) -> bool {
        !self.breaking.is_empty()
    }
}

/// The operations of a document by path, without the names of its parameters, and method.
fn operations(document: &Value) -> BTreeMap<(String, &str), (&str, &Value)> {
    let paths = document.get("paths").and_then(Value::as_object);
    let mut found = BTreeMap::new();
    for (path, item) in paths.into_iter().flatten() {
        let operations = item.as_object().into_iter().flatten();
        for (method, operation) in operations {
            if METHODS.contains(&method.as_str()) {
                // A request contains the values of path parameters and not their names, so another name breaks no client.
                let key = (shape(path), method.as_str());
                found.insert(key, (path.as_str(), operation));
            }
        }
    }
    found
}

impl fmt::Display for ContractComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.breaking.len() {
            0 => {}
            1 => f.write_str("1 change of the API breaks clients")?,
            count => write!(f, "{count} changes of the API break clients")?,
        }
        for change in &self.breaking {
            write!(f, "\n\n{change}")?;
        }
        match (self.breaking.is_empty(), self.compatible.is_empty()) {
            (true, true) => return f.write_str("the API has not changed"),
            (true, false) => f.write_str("no change of the API breaks clients")?,
            (false, true) => return Ok(()),
            (false, false) => f.write_str("\n\nno client notices these changes")?,
        }
        for change in &self.compatible {
            write!(f, "\n  - {change}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ContractChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation)?;
        if let Some(declaration) = &self.declaration {
            write!(f, " at {declaration}")?;
        }
        write!(f, ": {}", self.change.text)?;
        if let Some(breaks) = self.change.breaks {
            write!(f, ": {}", breaks.client_impact())?;
            for remedy in breaks.remedies() {
                write!(f, "\n  - {remedy}")?;
            }
        }
        Ok(())
    }
}
