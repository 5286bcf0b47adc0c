//! The members of a row that its viewer gets, and their description in its schema. serde hands no context to
//! `Serialize`, so the caller is in a variable of the thread while the output of a query is written.

use std::cell::RefCell;

use schemars::Schema;
use serde_json::{Value, json};

use super::{Cell, ColumnAccess, ColumnType, ReadModel};
use es_event::Caller;

thread_local! {
    static VIEWER: RefCell<Caller> = const { RefCell::new(Caller::Anyone) };
}

/// Restores the caller before this one, also after a panic.
struct ViewerScope {
    before: Caller,
}

impl Drop for ViewerScope {
    fn drop(&mut self) {
        VIEWER.replace(std::mem::take(&mut self.before));
    }
}

/// Writes JSON that a caller gets.
pub(crate) fn write_for<T>(caller: &Caller, write: impl FnOnce() -> T) -> T {
    let before = VIEWER.replace(caller.clone());
    let _scope = ViewerScope { before };
    write()
}

/// Returns whether the member of a row is left out of the JSON for the caller of the query that is being answered.
/// The rows of a query lack the values that its caller does not see; a row that a handler composes may have them.
pub fn is_hidden<R: ReadModel, const RULE: usize, T: ColumnType>(value: &T) -> bool {
    let rule = R::VISIBILITY.get(RULE);
    let access = rule.map(|rule| VIEWER.with_borrow(|caller| rule.access(caller)));
    match access {
        None | Some(ColumnAccess::Everywhere) => false,
        Some(ColumnAccess::OwnRows(..)) => value.to_cell("") == Ok(Cell::Null),
        Some(ColumnAccess::Nowhere) => true,
    }
}

/// Adds to the schema of a row who sees its members.
pub fn describe_visibility<R: ReadModel>(schema: &mut Schema) {
    let members = schema.get_mut("properties");
    let Some(members) = members.and_then(Value::as_object_mut) else {
        return;
    };
    for rule in R::VISIBILITY {
        let Some(member) = members.get_mut(rule.column.member) else {
            continue;
        };
        let viewers = format!("Only {} see this.", rule.viewers());
        let described = member["description"].as_str().unwrap_or_default();
        let text = format!("{described}\n\n{viewers}").trim().to_owned();
        member["description"] = json!(text);
    }
}
