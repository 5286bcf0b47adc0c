//! The SQL of a search through SQLite's groups of characters. Rows whose groups are not there yet,
//! the newest ones, are found one by one; each statement says itself which these are.

use crate::projection::{
    Cell, Database, Table, search,
    tables::{self, PLACE, quoted},
};

/// How many rows are few: these are looked up whatever else is asked of them.
const FEW: u32 = 5_000;
/// Of so many rows that have the groups at least one holds the parts, if the parts are frequent.
const FREQUENT: u32 = 10;

/// How many rows are looked up where all have to be: a look at each row of a million is quicker than
/// to look up many more.
const MANY: u32 = 50_000;

/// A part that is looked for.
#[derive(Debug)]
pub(super) struct Part {
    /// In lower case.
    pub(super) text: String,
    /// The text that is searched, in lower case, as SQL.
    pub(super) searched: String,
    /// The condition that a row holds it, with the text as its only parameter in SQLite.
    pub(super) condition: String,
}

impl Part {
    /// The condition that a row may hold it, and its parameter, for a database that chooses for itself
    /// when its index answers that.
    pub(super) fn may_be_held(&self, database: &Database) -> Option<(String, Cell)> {
        database.may_hold(&self.searched, &self.text)
    }
}

/// A search for rows that may hold parts of texts.
#[derive(Debug)]
pub(super) struct Search<'a> {
    table: &'a Table,
    /// The groups of the parts.
    groups: String,
}

impl<'a> Search<'a> {
    /// The search for these parts, unless all are too short.
    pub(super) fn of(table: &'a Table, parts: &[Part]) -> Option<Self> {
        let groups = search::groups(parts.iter().map(|part| &*part.text))?;
        Some(Self { table, groups })
    }

    /// Says 1 if all rows that have the groups should be looked up, whatever else is asked of them:
    /// there are few, or hardly any of them holds the parts. Parts that are frequent fill a page soon
    /// in any order.
    pub(super) fn choice(&self, parts: &[Part]) -> (String, Vec<Cell>) {
        let (groups, rows) = (search::name(self.table), quoted(self.table.model.name));
        let (indexed, newest) = (search::indexed(self.table), search::newest(self.table));
        let held: Vec<_> = parts.iter().map(|part| &*part.condition).collect();
        let held = held.join(" AND ");
        let more = FEW.saturating_add(1);
        let statement = format!(
            "SELECT (SELECT count(*) FROM ({newest} LIMIT {more})) <= {FEW} \
             AND (count(*) <= {FEW} OR total(held) * {FREQUENT} < count(*)) FROM (\
             SELECT {held} AS held FROM {groups} AS found CROSS JOIN {rows} \
             ON {PLACE} = found.rowid WHERE {groups} MATCH ? AND found.rowid <= {indexed} \
             LIMIT {more})"
        );
        let texts = parts.iter().map(|part| Cell::Text(part.text.clone()));
        let groups = Cell::Text(self.groups.clone());
        (statement, texts.chain([groups]).collect())
    }

    /// Says 1 if there are not too many rows that have the groups to look all of them up.
    pub(super) fn is_bounded(&self) -> (String, Vec<Cell>) {
        let newest = search::newest(self.table);
        let more = MANY.saturating_add(1);
        let statement = format!(
            "SELECT count(*) <= {MANY} FROM ({} UNION ALL {newest} LIMIT {more})",
            self.found()
        );
        (statement, vec![Cell::Text(self.groups.clone())])
    }

    /// The condition that a row is one of these, and its parameter.
    pub(super) fn condition(&self) -> (String, Cell) {
        let condition = format!(
            "{PLACE} IN ({} UNION ALL {})",
            self.found(),
            search::newest(self.table)
        );
        (condition, Cell::Text(self.groups.clone()))
    }

    /// The places of rows that have the groups.
    fn found(&self) -> String {
        let (groups, indexed) = (search::name(self.table), search::indexed(self.table));
        format!("SELECT rowid FROM {groups} WHERE {groups} MATCH ? AND rowid <= {indexed}")
    }

    /// The first `limit` rows behind a place, in the order of their places, that meet conditions.
    /// Nobody pays for those behind the page.
    pub(super) fn page(
        &self,
        after: i64,
        limit: i64,
        conditions: &[String],
        parameters: &[Cell],
    ) -> (String, Vec<Cell>) {
        let (groups, rows) = (search::name(self.table), quoted(self.table.model.name));
        let indexed = search::indexed(self.table);
        let (select, read) = (tables::select(self.table), tables::read(self.table));
        let also: String = conditions.iter().map(|one| format!(" AND {one}")).collect();
        let statement = format!(
            "SELECT * FROM (\
             SELECT * FROM (SELECT {read} FROM {groups} AS found CROSS JOIN {rows} \
             ON {PLACE} = found.rowid WHERE {groups} MATCH ? AND found.rowid > ? \
             AND found.rowid <= {indexed}{also} ORDER BY found.rowid LIMIT ?) \
             UNION ALL SELECT * FROM ({select} \
             WHERE {PLACE} > max(?, {indexed}){also} ORDER BY {PLACE} LIMIT ?)\
             ) ORDER BY {PLACE} LIMIT ?"
        );
        let (after, limit) = (Cell::Integer(after), Cell::Integer(limit));
        let found = [Cell::Text(self.groups.clone()), after.clone()];
        let cells = found.into_iter().chain(parameters.iter().cloned());
        let cells = cells.chain([limit.clone(), after]);
        let cells = cells.chain(parameters.iter().cloned());
        (statement, cells.chain([limit.clone(), limit]).collect())
    }
}
