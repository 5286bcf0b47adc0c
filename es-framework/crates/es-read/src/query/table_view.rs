//! A table as a caller sees it: the SQL of a query has no values of columns in rows where the caller does not see them.

use super::{QueryError, sql_fragment::SqlFragment};
use crate::projection::{
    ColumnAccess, ColumnVisibility, Database, Table,
    table_statements::{POSITION_COLUMN, quote_name},
};
use es_event::Caller;

/// A table as a caller sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableView<'a> {
    pub(super) database: &'a Database,
    pub(super) table: &'a Table,
    pub(super) caller: &'a Caller,
}

impl TableView<'_> {
    fn rule(&self, column: &str) -> Option<&'static ColumnVisibility> {
        let mut rules = self.table.model.visibility.iter();
        rules.find(|rule| rule.column.name == column)
    }

    fn access(&self, column: &str) -> ColumnAccess {
        let rule = self.rule(column);
        rule.map_or(ColumnAccess::Everywhere, |rule| rule.access(self.caller))
    }

    /// Returns the start of a statement that selects the position and the columns of rows.
    pub(super) fn select_from_clause(&self) -> SqlFragment {
        let mut parameters = Vec::new();
        let mut list = POSITION_COLUMN.to_owned();
        for column in self.table.model.columns {
            let name = quote_name(column.name);
            // An expression keeps the type of the column, which `NULL` alone does not have.
            let shown = match self.access(column.name) {
                ColumnAccess::Everywhere => name,
                ColumnAccess::OwnRows(owner, id) => {
                    parameters.push(id);
                    format!("CASE WHEN {} = ? THEN {name} END", quote_name(owner))
                }
                ColumnAccess::Nowhere => format!("CASE WHEN 1 = 0 THEN {name} END"),
            };
            list.push_str(", ");
            list.push_str(&shown);
        }
        let text = format!("SELECT {list} FROM {}", quote_name(&self.table.name()));
        SqlFragment::new(text, parameters)
    }

    /// Restricts a condition on a column to the rows in which the caller sees the column. Elsewhere it has no value.
    ///
    /// # Errors
    /// The caller sees the column in no row.
    pub(super) fn restrict(
        &self,
        column: &'static str,
        condition: SqlFragment,
        is_met_without_value: bool,
    ) -> Result<SqlFragment, QueryError> {
        let Some(own) = self.restriction(column)? else {
            return Ok(condition);
        };
        let (operator, own) = if is_met_without_value {
            let text = format!("({}) IS NOT TRUE", own.text);
            (" OR ", SqlFragment::new(text, own.parameters))
        } else {
            (" AND ", own)
        };
        let sides = [condition, own].map(SqlFragment::in_parentheses);
        Ok(SqlFragment::join(sides, operator))
    }

    /// Returns the condition that the caller sees a column of a row, unless the caller sees it in all rows.
    ///
    /// # Errors
    /// The caller sees the column in no row.
    pub(super) fn restriction(
        &self,
        column: &'static str,
    ) -> Result<Option<SqlFragment>, QueryError> {
        match self.access(column) {
            ColumnAccess::Everywhere => Ok(None),
            ColumnAccess::Nowhere => Err(self.not_visible(column)),
            ColumnAccess::OwnRows(owner, id) => {
                let own = format!("{} = ?", quote_name(owner));
                Ok(Some(SqlFragment::new(own, vec![id])))
            }
        }
    }

    fn not_visible(&self, column: &'static str) -> QueryError {
        let rule = self.rule(column);
        QueryError::NotVisible {
            member: rule.map_or(column, |rule| rule.column.member),
            viewers: rule.map(ColumnVisibility::viewers).unwrap_or_default(),
        }
    }
}
