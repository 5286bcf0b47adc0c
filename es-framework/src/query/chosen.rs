//! A page of rows that hold parts, for PostgreSQL, which chooses for itself how it finds rows: whether
//! parts are frequent is found out by a look at some rows, since its statistics do not tell.

use super::{QueryError, search::Part};
use crate::projection::{
    Cell, Database, StoredRow, Table, search,
    tables::{self, PLACE, quoted},
};

/// How many rows are looked at, in the order that is asked for, before the index is used: parts that
/// are frequent fill a page by then.
const NEAR: u32 = 2_000;
/// How many are looked at if so many of the near ones hold the parts. To look up all that may hold
/// parts of a thousandth of the rows takes longer.
const FURTHER: u32 = 20_000;
const SOME: usize = 2;
/// Among how many rows it is counted which groups of a part are frequent, and of how many of them one
/// that is not looked up is in at least one. Such a group takes long and leaves out few rows.
const SAMPLE: u32 = 200;
const FREQUENT: u32 = 8;
/// How many groups are looked up although they are frequent: the rarest ones.
const RAREST: usize = 3;

/// A page of rows that hold parts.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub(super) table: &'a Table,
    /// What all rows have to meet, and its parameters.
    pub(super) conditions: &'a [String],
    pub(super) parameters: &'a [Cell],
    /// The parts that they hold.
    pub(super) parts: &'a [Part],
    /// What the rows behind the last page meet, and its parameters.
    pub(super) after: Option<(String, Vec<Cell>)>,
    pub(super) order: &'a str,
    /// Whether that is the order in which the rows are stored, so that many are read soon.
    pub(super) is_stored: bool,
    pub(super) limit: i64,
}

impl Chosen<'_> {
    /// The page from the first rows, if these fill it; otherwise from all rows.
    pub(super) async fn find(&self, database: &Database) -> Result<Vec<StoredRow>, QueryError> {
        let find =
            async |(statement, parameters)| database.fetch(self.table, statement, parameters).await;
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let is_full = |rows: &[StoredRow]| rows.len() >= limit;
        let mut rows = find(self.near(NEAR)).await?;
        if !is_full(&rows) && self.is_stored && rows.len() >= SOME {
            rows = find(self.near(FURTHER)).await?;
        }
        if !is_full(&rows) {
            rows = find(self.far(database).await?).await?;
        }
        Ok(rows)
    }

    /// Those among the next rows that hold the parts.
    fn near(&self, next: u32) -> (String, Vec<Cell>) {
        let (rows, read) = (quoted(self.table.model.name), tables::read(self.table));
        let (order, held) = (self.order, self.conditions.join(" AND "));
        let (behind, after) = self.behind();
        let statement = format!(
            "SELECT {read} FROM (SELECT * FROM {rows} WHERE {behind} ORDER BY {order} LIMIT {next}) \
             AS next WHERE {held} ORDER BY {order} LIMIT ?"
        );
        let parameters = after.iter().chain(self.parameters).cloned();
        let parameters = parameters.chain([Cell::Integer(self.limit)]);
        (statement, parameters.collect())
    }

    /// The same among all rows, which are found before they are sorted.
    async fn far(&self, database: &Database) -> Result<(String, Vec<Cell>), QueryError> {
        let (rows, read) = (quoted(self.table.model.name), tables::read(self.table));
        let (behind, after) = self.behind();
        let mut all = self.conditions.to_vec();
        let mut parameters = self.parameters.to_vec();
        for (condition, parameter) in self.looked_up(database).await? {
            all.push(condition);
            parameters.push(parameter);
        }
        let (order, held) = (self.order, all.join(" AND "));
        let statement = format!(
            "SELECT * FROM (SELECT {read} FROM {rows} WHERE {held} AND {behind} OFFSET 0) AS far \
             ORDER BY {order} LIMIT ?"
        );
        parameters.extend(after.iter().cloned());
        parameters.push(Cell::Integer(self.limit));
        Ok((statement, parameters))
    }

    /// The conditions for the index that a row may hold the parts.
    async fn looked_up(&self, database: &Database) -> Result<Vec<(String, Cell)>, QueryError> {
        let whole = |part: &Part| part.may_be_held(database);
        // Of several parts PostgreSQL has to tell which one is rare.
        let [part] = self.parts else {
            return Ok(self.parts.iter().filter_map(whole).collect());
        };
        let groups = search::plain_groups(&part.text);
        if groups.len() <= RAREST {
            return Ok(whole(part).into_iter().collect());
        }
        let (rows, searched) = (quoted(self.table.model.name), &part.searched);
        let marks = vec!["(?)"; groups.len()].join(", ");
        let statement = format!(
            "WITH sample AS MATERIALIZED (\
             SELECT {searched} AS text FROM {rows} ORDER BY {PLACE} LIMIT {SAMPLE}), \
             counted AS (SELECT part, (SELECT count(*) FROM sample WHERE strpos(text, part) > 0) \
             AS held FROM (VALUES {marks}) AS parts (part)) \
             SELECT part FROM (SELECT part, held, row_number() OVER (ORDER BY held, part) AS rank \
             FROM counted) AS ranked \
             WHERE rank <= {RAREST} OR held * {FREQUENT} < (SELECT count(*) FROM sample)"
        );
        let statement = database.numbered(&statement, 0);
        let groups = groups.into_iter().map(Cell::Text).collect();
        let rare = database.texts(statement, groups).await?;
        let runs = search::runs(&part.text, &rare).into_iter();
        let may_hold = runs.filter_map(|run| database.may_hold(searched, &run));
        Ok(may_hold.collect())
    }

    fn behind(&self) -> (&str, &[Cell]) {
        match &self.after {
            Some((condition, parameters)) => (condition, parameters),
            None => ("TRUE", &[]),
        }
    }
}
