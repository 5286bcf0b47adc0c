//! The held rows among those that a query returns: they lack events, so an answer with them is marked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use es_event::EventId;
use es_subscribe::{HeldKey, HeldKeyKind, HeldKeys, ProgressRegistry};

use super::{RowIdentity, RowKey, Table, TableRow};

/// The longest list of keys in a header, in bytes.
const MAX_LIST: usize = 4_096;

/// The rows that the read models of a query hold, and those of them that the query has returned. Clones share it.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct HeldRows {
    /// The held keys of each read model that holds some.
    tables: Arc<BTreeMap<&'static str, HeldKeys>>,
    returned: Arc<Mutex<ReturnedRows>>,
}

#[derive(Debug, Default)]
struct ReturnedRows {
    keys: BTreeSet<RowKey>,
    /// True if held rows may be among the returned ones without being known.
    is_unknown: bool,
    /// True if held rows may be among those that were counted.
    is_counted: bool,
    /// The first event that a returned row lacks.
    first_missing: Option<EventId>,
}

impl HeldRows {
    /// Collects the rows that these read models hold, or all read models if `models` is empty. A query calls it before
    /// it reads rows, so that no row that is held by then is returned without a mark.
    #[must_use]
    pub fn collect(models: &[&str], progress: &ProgressRegistry) -> Self {
        let read = progress
            .iter()
            .filter(|one| models.is_empty() || models.contains(&one.name()));
        let held_keys = read.map(|one| (one.name(), one.held_keys()));
        let tables = held_keys.filter(|(_, held)| !held.is_empty());
        Self {
            tables: Arc::new(tables.collect()),
            returned: Arc::default(),
        }
    }

    /// Notes the held ones among the rows that a statement has selected.
    pub(crate) fn record_rows(&self, table: &Table, rows: &[TableRow]) {
        let Some(held) = self.tables.get(table.model.name) else {
            return;
        };
        if table.model.identity == RowIdentity::Event {
            return self.record_unknown_rows();
        }
        if held.iter().any(|one| one.kind == HeldKeyKind::Subject) {
            // An event does not tell the row that lacks it.
            self.record_unknown_rows();
        }
        let model = &table.model;
        let mut returned = self.lock();
        for row in rows {
            if let Some(key) = model.identity.find_key(model.columns, &row.cells)
                && let Some(held) = held.find(&key.held_id())
            {
                returned.record_missing(held);
                returned.keys.insert(key);
            }
        }
    }

    /// Notes that a statement may have read held rows.
    pub(crate) fn record_unknown_rows(&self) {
        let mut returned = self.lock();
        returned.is_unknown = true;
        for held in self.tables.values().flat_map(HeldKeys::iter) {
            returned.record_missing(held);
        }
    }

    /// Notes that a statement has counted rows, without returning any.
    pub(crate) fn record_count(&self) {
        self.lock().is_counted = true;
    }

    /// Returns the last event up to which the returned rows contain all events, given the position of their read
    /// models.
    #[must_use]
    pub fn contained_position(&self, position: Option<EventId>) -> Option<EventId> {
        match self.lock().first_missing {
            Some(missing) => position.min(missing.get().checked_sub(1).and_then(EventId::new)),
            None => position,
        }
    }

    /// Returns the value of the header `Held-Rows`, a dictionary as in RFC 9651, unless no row is held: the number of
    /// held rows, and the keys of those in the output of the query. Without the keys, any row can be a held one. A key
    /// that the output does not contain is not told, because the query may have read a row that its caller does not see.
    #[must_use]
    pub fn header_value(&self, output: &str) -> Option<String> {
        if self.tables.is_empty() {
            return None;
        }
        let total: usize = self.tables.values().map(HeldKeys::len).sum();
        let mut value = format!("total={total}");
        let returned = self.lock();
        let mut keys = returned.keys.iter();
        if returned.is_unknown || returned.is_counted || !keys.all(|key| contains_key(output, key))
        {
            return Some(value);
        }
        let items: Vec<_> = returned.keys.iter().map(key_item).collect();
        let list = items.join(" ");
        if list.len() <= MAX_LIST {
            let _ = write!(value, ", rows=({list})");
        }
        Some(value)
    }

    /// Locks the rows. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, ReturnedRows> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReturnedRows {
    /// Notes that a row lacks the event at which it is held, and all later ones.
    fn record_missing(&mut self, held: &HeldKey) {
        let missing = held.poison.id;
        self.first_missing = Some(
            self.first_missing
                .map_or(missing, |first| first.min(missing)),
        );
    }
}

/// Returns true if a JSON text contains a key.
fn contains_key(json: &str, key: &RowKey) -> bool {
    match key {
        RowKey::Integer(number) => json.contains(&number.to_string()),
        RowKey::Text(text) => serde_json::to_string(text).is_ok_and(|text| json.contains(&text)),
        RowKey::Composite(parts) => parts.iter().all(|part| contains_key(json, part)),
    }
}

/// Returns a key as an item of RFC 9651: an integer, a string of ASCII characters, or another string with escapes.
fn key_item(key: &RowKey) -> String {
    let text = match key {
        RowKey::Integer(number) if number.unsigned_abs() < 1_000_000_000_000_000 => {
            return number.to_string();
        }
        key => key.to_text(),
    };
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'%');
    if text.bytes().all(is_plain) {
        return format!("\"{text}\"");
    }
    let mut item = String::from("%\"");
    for byte in text.bytes() {
        if is_plain(byte) {
            item.push(char::from(byte));
        } else {
            let _ = write!(item, "%{byte:02x}");
        }
    }
    item.push('"');
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_as_an_item_of_a_structured_field() {
        for (key, item) in [
            (RowKey::Integer(-42), "-42"),
            (RowKey::Integer(i64::MAX), "\"9223372036854775807\""),
            (RowKey::Text("8e03978e-40d5".into()), "\"8e03978e-40d5\""),
            (RowKey::Text("Zoë \"Z\"".into()), "%\"Zo%c3%ab %22Z%22\""),
            (
                RowKey::Composite(vec![RowKey::Text("A".into()), RowKey::Integer(7)]),
                "%\"[%22A%22,7]\"",
            ),
        ] {
            assert_eq!(key_item(&key), item);
        }
    }
}
