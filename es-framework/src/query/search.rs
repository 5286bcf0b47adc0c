//! The SQL of a search through SQLite's groups of characters. Rows whose groups are not there yet,
//! the newest ones, are found one by one; each statement says itself which these are.

use crate::projection::{
    Cell, Table, search,
    tables::{self, PLACE, quoted},
};

/// How many rows are few: these are looked up whatever else is asked of them. A part that more rows
/// may hold fills a page soon, in whichever order they come.
const FEW: i64 = 2_000;

/// A search for rows that may hold parts of texts.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) table: &'a Table,
    /// What their groups are.
    pub(super) groups: String,
}

impl Search<'_> {
    /// Counts the rows to look at, as far as that matters.
    pub(super) fn candidates(&self) -> (String, Vec<Cell>) {
        let (found, newest) = (self.found(), self.newest());
        let statement = format!(
            "SELECT count(*) FROM (SELECT 1 FROM ({found}) UNION ALL SELECT 1 FROM ({newest}) LIMIT ?)"
        );
        let limit = Cell::Integer(FEW.saturating_add(1));
        (statement, vec![Cell::Text(self.groups.clone()), limit])
    }

    pub(super) fn are_few(candidates: u64) -> bool {
        i64::try_from(candidates).is_ok_and(|candidates| candidates <= FEW)
    }

    /// The condition that a row is one of these, and its parameter.
    pub(super) fn condition(&self) -> (String, Cell) {
        let condition = format!("{PLACE} IN ({} UNION ALL {})", self.found(), self.newest());
        (condition, Cell::Text(self.groups.clone()))
    }

    /// The places of rows that have the groups.
    fn found(&self) -> String {
        let (groups, indexed) = (search::name(self.table), search::indexed(self.table));
        format!("SELECT rowid FROM {groups} WHERE {groups} MATCH ? AND rowid <= {indexed}")
    }

    /// The places of rows whose groups are not there.
    fn newest(&self) -> String {
        let (rows, indexed) = (quoted(self.table.model.name), search::indexed(self.table));
        format!("SELECT {PLACE} FROM {rows} WHERE {PLACE} > {indexed}")
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
        let select = tables::select(self.table);
        let columns = select.split(" FROM ").next().unwrap_or_default();
        let also: String = conditions.iter().map(|one| format!(" AND {one}")).collect();
        let statement = format!(
            "SELECT * FROM (\
             SELECT * FROM ({columns} FROM {groups} AS found CROSS JOIN {rows} \
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
