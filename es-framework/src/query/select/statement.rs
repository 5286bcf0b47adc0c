//! The statement of one page, and where the next page begins.

use super::{Select, conditions};
use crate::{
    projection::{
        Cell, ReadModel, Table,
        tables::{self, PLACE, quoted},
    },
    query::{
        Direction, Paging, QueryError,
        cursor::{AfterRow, Cursor, Value},
        search::{Chosen, Search},
    },
};

impl<R: ReadModel> Select<'_, R> {
    pub(super) fn walk(
        &self,
        search: &Search<'_>,
        paging: &Paging,
    ) -> Result<(String, Vec<Cell>), QueryError> {
        let after = paging.after.as_ref().map(Cursor::row).transpose()?;
        let after = match after {
            None => -1,
            Some(AfterRow { place, by: None }) => *place,
            Some(_) => return Err(Cursor::of_another_query()),
        };
        Ok(search.page(after, more_than(paging), &self.conditions, &self.parameters))
    }

    pub(super) fn statement(
        &self,
        table: &Table,
        paging: &Paging,
    ) -> Result<(String, Vec<Cell>), QueryError> {
        let descending = match self.order {
            Some((_, Direction::Descending)) => " DESC",
            Some((_, Direction::Ascending)) | None => "",
        };
        let order = match self.order {
            Some((column, _)) => format!("{}{descending}, {PLACE}{descending}", quoted(column)),
            None => PLACE.to_owned(),
        };
        let after = self.after(paging)?;
        if self.database.chooses_groups() && Search::of(table, &self.parts).is_some() {
            let page = Chosen {
                table,
                conditions: &self.conditions,
                parameters: &self.parameters,
                after,
                order: &order,
                limit: more_than(paging),
            };
            return Ok(page.statement());
        }
        let (mut all, mut parameters) = (self.conditions.clone(), self.parameters.clone());
        if let Some((condition, more)) = after {
            all.push(condition);
            parameters.extend(more);
        }
        let statement = format!(
            "{}{} ORDER BY {order} LIMIT ?",
            tables::select(table),
            conditions(&all)
        );
        parameters.push(Cell::Integer(more_than(paging)));
        Ok((statement, parameters))
    }

    /// What the rows behind the last page meet, and its parameters.
    fn after(&self, paging: &Paging) -> Result<Option<(String, Vec<Cell>)>, QueryError> {
        let Some(after) = &paging.after else {
            return Ok(None);
        };
        let after = after.row()?;
        let place = Cell::Integer(after.place);
        Ok(Some(match (self.order, after.by.clone()) {
            (None, None) => (format!("{PLACE} > ?"), vec![place]),
            (Some((name, direction)), Some(value)) if is_value_of::<R>(name, &value) => {
                let operator = match direction {
                    Direction::Descending => "<",
                    Direction::Ascending => ">",
                };
                let condition = format!("({}, {PLACE}) {operator} (?, ?)", quoted(name));
                (condition, vec![value.into(), place])
            }
            _ => return Err(Cursor::of_another_query()),
        }))
    }

    pub(super) fn cursor(&self, place: i64, cells: &[Cell]) -> Cursor {
        let by = self.order.and_then(|(name, _)| {
            let index = R::COLUMNS.iter().position(|column| column.name == name)?;
            Value::of(cells.get(index)?)
        });
        Cursor::Row(AfterRow { place, by })
    }
}

fn is_value_of<R: ReadModel>(name: &str, value: &Value) -> bool {
    let mut columns = R::COLUMNS.iter();
    columns.any(|column| column.name == name && value.fits(column.kind))
}

/// One row more than a page has tells whether there is a next one.
fn more_than(paging: &Paging) -> i64 {
    i64::from(paging.limit).saturating_add(1)
}
