//! Rows of a read model by conditions: SQL in which every value is a parameter and every name is
//! one that was declared.

mod statement;

use std::marker::PhantomData;

use super::{Direction, Page, Paging, QueryError};
use crate::projection::{
    Cell, Cells, Column, ColumnValue, Database, ReadModel, Table, tables::quoted,
};

/// Rows that are asked for.
///
/// ```
/// use es_framework::prelude::*;
///
/// async fn one_of<R: ReadModel>(
///     reading: &Reading<'_>,
///     titles: &[String],
/// ) -> Result<Option<R>, QueryError> {
///     reading.rows::<R>().one_of("title", titles).first().await
/// }
/// ```
#[derive(Debug)]
pub struct Select<'a, R> {
    database: &'a Database,
    conditions: Vec<String>,
    parameters: Vec<Cell>,
    order: Option<(&'static str, Direction)>,
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

    /// Rows whose column contains this text, whatever the case of its letters.
    #[must_use]
    pub fn contains(mut self, name: &str, substring: &str) -> Self {
        let Some(column) = self.column(name) else {
            return self;
        };
        // `page` reports a table that is not declared.
        if let Some(table) = self.database.table(R::TABLE) {
            for (condition, parameter) in self.database.contains(table, column.name, substring) {
                self.conditions.push(condition);
                self.parameters.push(parameter);
            }
        }
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
        let rows = self.load_page(table, paging).await?;
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
        let statement = format!("SELECT count(*) FROM {name}{}", where_all(&self.conditions));
        let parameters = self.parameters.clone();
        Ok(self.database.count(statement, parameters).await?)
    }

    /// Returns the condition that a row is one of these, and its parameters.
    pub(super) fn condition(mut self) -> Result<(String, Vec<Cell>), QueryError> {
        self.table()?;
        let condition = match self.conditions.is_empty() {
            true => "TRUE".to_owned(),
            false => format!("({})", self.conditions.join(" AND ")),
        };
        Ok((condition, self.parameters))
    }
}

fn where_all(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        conditions => format!(" WHERE {}", conditions.join(" AND ")),
    }
}
