//! The statement of one page, and where the next page begins.

use super::{Select, conditions};
use crate::{
    projection::{
        Cell, ReadModel, StoredRow, Table,
        tables::{self, PLACE, quoted},
    },
    query::{
        Direction, Paging, QueryError,
        chosen::Chosen,
        cursor::{AfterRow, Cursor, Value},
        search::Search,
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

    /// The rows of the page, and one more if there is a next one, for a database that knows for itself
    /// how it finds parts.
    pub(super) async fn found(
        &self,
        table: &Table,
        paging: &Paging,
    ) -> Result<Vec<StoredRow>, QueryError> {
        let order = self.sorted();
        let after = self.after(paging)?;
        if self.database.chooses_groups() && Search::of(table, &self.parts).is_some() {
            let page = Chosen {
                table,
                conditions: &self.conditions,
                parameters: &self.parameters,
                parts: &self.parts,
                after,
                order: &order,
                is_stored: self.order.is_none(),
                limit: more_than(paging),
            };
            return page.find(self.database).await;
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
        Ok(self.database.fetch(table, statement, parameters).await?)
    }

    fn sorted(&self) -> String {
        let descending = match self.order {
            Some((_, Direction::Descending)) => " DESC",
            Some((_, Direction::Ascending)) | None => "",
        };
        match self.order {
            Some((column, _)) => format!("{}{descending}, {PLACE}{descending}", quoted(column)),
            None => PLACE.to_owned(),
        }
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
