//! The statement of one page, and where the next page begins.

use super::{Select, where_all};
use crate::{
    projection::{
        Cell, ReadModel, StoredRow, Table,
        tables::{self, POSITION_COLUMN, quoted},
    },
    query::{
        Direction, Paging, QueryError,
        cursor::{AfterRow, Cursor, Value},
    },
};

impl<R: ReadModel> Select<'_, R> {
    /// Loads the rows of the page, and one more if there is a next page.
    pub(super) async fn load_page(
        &self,
        table: &Table,
        paging: &Paging,
    ) -> Result<Vec<StoredRow>, QueryError> {
        let (mut conditions, mut parameters) = (self.conditions.clone(), self.parameters.clone());
        if let Some((condition, more)) = self.after(paging)? {
            conditions.push(condition);
            parameters.extend(more);
        }
        let statement = format!(
            "{}{} ORDER BY {} LIMIT ?",
            tables::select(table),
            where_all(&conditions),
            self.sort_order()
        );
        // One row more than a page has tells that there is a next page.
        let limit = i64::from(paging.limit).saturating_add(1);
        parameters.push(Cell::Integer(limit));
        Ok(self.database.fetch(table, statement, parameters).await?)
    }

    fn sort_order(&self) -> String {
        let descending = match self.order {
            Some((_, Direction::Descending)) => " DESC",
            Some((_, Direction::Ascending)) | None => "",
        };
        match self.order {
            Some((column, _)) => format!(
                "{}{descending}, {POSITION_COLUMN}{descending}",
                quoted(column)
            ),
            None => POSITION_COLUMN.to_owned(),
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
            (None, None) => (format!("{POSITION_COLUMN} > ?"), vec![place]),
            (Some((name, direction)), Some(value)) if is_value_of::<R>(name, &value) => {
                let operator = match direction {
                    Direction::Descending => "<",
                    Direction::Ascending => ">",
                };
                let condition = format!("({}, {POSITION_COLUMN}) {operator} (?, ?)", quoted(name));
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
