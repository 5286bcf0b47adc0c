//! Rows of a read model by conditions: SQL in which every value is a parameter and every name is
//! one that was declared.

mod statement;

use std::marker::PhantomData;

use super::{
    Direction, Page, Paging, QueryError,
    search::{Part, Search},
};
use crate::projection::{
    Cell, Cells, Column, ColumnValue, Database, ReadModel, Table,
    tables::{self, quoted},
};

/// Rows that are asked for.
///
/// ```
/// use es_framework::prelude::*;
///
/// async fn one_of<R: ReadModel>(
///     context: &QueryContext<'_>,
///     titles: &[String],
/// ) -> Result<Option<R>, QueryError> {
///     context.rows::<R>().one_of("title", titles).first().await
/// }
/// ```
#[derive(Debug)]
pub struct Select<'a, R> {
    database: &'a Database,
    conditions: Vec<String>,
    parameters: Vec<Cell>,
    order: Option<(&'static str, Direction)>,
    /// The parts of texts that groups of characters find.
    parts: Vec<Part>,
    /// What was asked for and is not there.
    undeclared: Option<String>,
    rows: PhantomData<fn() -> R>,
}

impl<'a, R: ReadModel> Select<'a, R> {
    pub(super) const fn new(database: &'a Database) -> Self {
        Self {
            database,
            conditions: Vec::new(),
            parameters: Vec::new(),
            order: None,
            parts: Vec::new(),
            undeclared: None,
            rows: PhantomData,
        }
    }

    fn column(&mut self, name: &str) -> Option<&'static Column> {
        let column = R::COLUMNS.iter().find(|column| column.name == name);
        if column.is_none() {
            self.undeclared
                .get_or_insert_with(|| format!("the column {name} of {}", R::TABLE));
        }
        column
    }

    fn compare<T: ColumnValue>(mut self, name: &str, operator: &str, value: &T) -> Self {
        let Some(column) = self.column(name) else {
            return self;
        };
        match Cell::of(name, value) {
            Ok(cell) => {
                self.conditions
                    .push(format!("{} {operator} ?", quoted(column.name)));
                self.parameters.push(cell);
            }
            Err(error) => {
                self.undeclared.get_or_insert(error.to_string());
            }
        }
        self
    }

    /// Rows whose column has this value.
    #[must_use]
    pub fn equal<T: ColumnValue>(self, column: &str, value: &T) -> Self {
        self.compare(column, "=", value)
    }

    /// Rows whose column has this value or a larger one.
    #[must_use]
    pub fn at_least<T: ColumnValue>(self, column: &str, value: &T) -> Self {
        self.compare(column, ">=", value)
    }

    /// Rows whose column has a smaller value than this one.
    #[must_use]
    pub fn below<T: ColumnValue>(self, column: &str, value: &T) -> Self {
        self.compare(column, "<", value)
    }

    /// Rows whose column has this value or a smaller one.
    #[must_use]
    pub fn at_most<T: ColumnValue>(self, column: &str, value: &T) -> Self {
        self.compare(column, "<=", value)
    }

    /// Rows whose column has one of these values; without any, no row.
    #[must_use]
    pub fn one_of<T: ColumnValue>(mut self, name: &str, values: &[T]) -> Self {
        let Some(column) = self.column(name) else {
            return self;
        };
        let cells: Result<Vec<_>, _> = values.iter().map(|value| Cell::of(name, value)).collect();
        match cells {
            Ok(cells) => {
                let marks = vec!["?"; cells.len()].join(", ");
                self.conditions
                    .push(format!("{} IN ({marks})", quoted(column.name)));
                self.parameters.extend(cells);
            }
            Err(error) => {
                self.undeclared.get_or_insert(error.to_string());
            }
        }
        self
    }

    /// Rows whose column holds this text somewhere, whatever the case of its letters.
    #[must_use]
    pub fn contains(mut self, name: &str, part: &str) -> Self {
        let Some(column) = self.column(name) else {
            return self;
        };
        let table = self.database.table(R::TABLE);
        let has_companion = table.is_some_and(|table| table.searched.contains(column.name));
        let part = part.to_lowercase();
        let searched = if has_companion {
            tables::lowered(column.name)
        } else {
            // Nothing declares the search: the letters of ASCII have to do.
            format!("lower({})", quoted(column.name))
        };
        let (condition, parameter) = self.database.holds(&searched, &part, has_companion);
        if has_companion {
            self.parts.push(Part {
                text: part,
                searched,
                condition: condition.clone(),
            });
        }
        self.conditions.push(condition);
        self.parameters.push(parameter);
        self
    }

    /// Sorts the rows by a column, and those that are alike by their age. Otherwise the oldest come
    /// first. Rows without a value in this column are left out.
    #[must_use]
    pub fn order_by(mut self, name: &str, direction: Direction) -> Self {
        if let Some(column) = self.column(name) {
            self.order = Some((column.name, direction));
            self.conditions
                .push(format!("{} IS NOT NULL", quoted(column.name)));
        }
        self
    }

    /// The row that comes first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn first(self) -> Result<Option<R>, QueryError> {
        let paging = Paging {
            limit: 1,
            ..Paging::default()
        };
        let page = self.page(&paging).await?;
        Ok(page.items.into_iter().next())
    }

    /// All rows up to `limit`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn all(self, limit: u32) -> Result<Vec<R>, QueryError> {
        let paging = Paging {
            limit,
            ..Paging::default()
        };
        Ok(self.page(&paging).await?.items)
    }

    /// A page of the rows. What is written between two pages neither repeats a row nor leaves one
    /// out that was there.
    ///
    /// # Errors
    /// The database failed, or the cursor belongs to another query.
    pub async fn page(mut self, paging: &Paging) -> Result<Page<R>, QueryError> {
        let table = self.table()?;
        let total = match paging.total {
            true => Some(self.count(table).await?),
            false => None,
        };
        let search = self.search(table).await?;
        let rows = match search {
            Some(search) => {
                let (statement, parameters) = self.walk(&search, paging)?;
                self.database.fetch(table, statement, parameters).await?
            }
            None => self.found(table, paging).await?,
        };
        let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
        let next_cursor = match rows.len() > limit {
            true => rows.get(..limit).and_then(<[_]>::last),
            false => None,
        };
        let next_cursor = next_cursor
            .map(|last| self.cursor(last.place, &last.cells).encode())
            .transpose()?;
        let items = rows
            .into_iter()
            .take(limit)
            .map(|row| R::from_cells(Cells::new(row.cells)))
            .collect::<Result<_, _>>()?;
        Ok(Page {
            items,
            next_cursor,
            total,
        })
    }

    fn table(&mut self) -> Result<&'a Table, QueryError> {
        if let Some(what) = self.undeclared.take() {
            return Err(QueryError::Undeclared { what });
        }
        let table = self.database.table(R::TABLE);
        table.ok_or_else(|| QueryError::Undeclared {
            what: format!("the table {}", R::TABLE),
        })
    }

    async fn count(&self, table: &Table) -> Result<u64, QueryError> {
        let name = quoted(table.model.name);
        let (all, parameters) = self.all_of(table).await?;
        let statement = format!("SELECT count(*) FROM {name}{}", conditions(&all));
        Ok(self.database.count(statement, parameters).await?)
    }

    /// The condition that a row is one of these, and its parameters.
    pub(super) async fn condition(mut self) -> Result<(String, Vec<Cell>), QueryError> {
        let table = self.table()?;
        let (all, parameters) = self.all_of(table).await?;
        let condition = match all.is_empty() {
            true => "TRUE".to_owned(),
            false => format!("({})", all.join(" AND ")),
        };
        Ok((condition, parameters))
    }

    /// The conditions if all rows are wanted that meet them. Groups of characters go first in SQLite,
    /// unless very many rows have them.
    async fn all_of(&self, table: &Table) -> Result<(Vec<String>, Vec<Cell>), QueryError> {
        let (mut all, mut parameters) = (self.conditions.clone(), self.parameters.clone());
        if let Some(search) = self.groups(table).await? {
            let (statement, asked) = search.is_bounded();
            if self.database.count(statement, asked).await? == 1 {
                let (condition, parameter) = search.condition();
                all.insert(0, condition);
                parameters.insert(0, parameter);
            }
        }
        let parts = self.parts.iter();
        for (condition, parameter) in parts.filter_map(|part| part.may_be_held(self.database)) {
            all.push(condition);
            parameters.push(parameter);
        }
        Ok((all, parameters))
    }

    /// The groups of the parts, if the database has to be told of them.
    async fn groups<'t>(&self, table: &'t Table) -> Result<Option<Search<'t>>, QueryError> {
        let search = Search::of(table, &self.parts);
        let has_groups = search.is_some() && self.database.has_groups(table).await?;
        Ok(search.filter(|_| has_groups))
    }

    /// Finds out whether groups of characters help, and gives the search that goes through the rows
    /// that have them, in the order of the rows. Otherwise that condition goes before all others, if
    /// rows come in another order, unless the parts are frequent: what else is asked may be rarer.
    async fn search<'t>(&mut self, table: &'t Table) -> Result<Option<Search<'t>>, QueryError> {
        let Some(search) = self.groups(table).await? else {
            return Ok(None);
        };
        let is_all = self.order.is_none() && self.conditions.len() == self.parts.len();
        if is_all {
            return Ok(Some(search));
        }
        let (statement, parameters) = search.choice(&self.parts);
        if self.database.count(statement, parameters).await? != 1 {
            return Ok(None);
        }
        if self.order.is_none() {
            return Ok(Some(search));
        }
        let (condition, parameter) = search.condition();
        self.conditions.insert(0, condition);
        self.parameters.insert(0, parameter);
        Ok(None)
    }
}

fn conditions(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        conditions => format!(" WHERE {}", conditions.join(" AND ")),
    }
}
