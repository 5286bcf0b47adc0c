//! The columns that only some callers see.

use super::{Cell, ColumnDescriptor, ColumnKind, ColumnType};
use es_event::Caller;

/// A column that only some callers see: `#[visible(…)]` above a field declares it. The others get rows without it.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid }
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// struct BookCopy {
///     #[key]
///     id: Uuid,
///     #[visible(role = "staff")]
///     reader: Option<Uuid>,
/// }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, reader: None }
/// #     }
/// # }
///
/// let reader = BookCopy::VISIBILITY[0];
/// assert_eq!((reader.column.name, reader.roles), ("reader", &["staff"][..]));
/// assert_eq!(reader.viewers(), "clients with the role `staff`");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnVisibility {
    /// The column.
    pub column: ColumnDescriptor,
    /// The roles whose callers see the column in every row.
    pub roles: &'static [&'static str],
    /// The column with the owner id of the caller who sees the column in this row.
    pub owner: Option<ColumnDescriptor>,
}

/// The type of a column that a row can lack: an `Option`. The trait exists for the compiler's message about other
/// types.
///
/// ```
/// use es_framework::projection::OptionalColumn;
///
/// fn can_be_hidden<T: OptionalColumn>() {}
/// can_be_hidden::<Option<String>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "a column of type `{Self}` cannot be hidden from callers",
    label = "every row has a value here",
    note = "callers who do not see the field get rows without it: write `Option<{Self}>`"
)]
pub trait OptionalColumn: ColumnType {}

impl<T: ColumnType> OptionalColumn for Option<T> {}

/// The rows in which a caller sees a column.
pub(crate) enum ColumnAccess {
    Everywhere,
    /// Those with this owner id in this column.
    OwnRows(&'static str, Cell),
    Nowhere,
}

impl ColumnKind {
    /// Returns whether a column of this kind can hold owner ids.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_owner_id(self) -> bool {
        matches!(self, Self::Text | Self::Name | Self::Integer)
    }

    /// Returns the cell with an owner id, or `None` if no column of this kind holds it.
    fn owner_cell(self, owner_id: &str) -> Option<Cell> {
        match self {
            Self::Text | Self::Name => Some(Cell::Text(owner_id.to_owned())),
            Self::Integer => {
                let number = owner_id.parse::<i64>().ok();
                // Owner ids are compared as texts, so `07` is not `7`.
                let exact = number.filter(|number| number.to_string() == owner_id);
                exact.map(Cell::Integer)
            }
            Self::Real | Self::Boolean | Self::Timestamp | Self::Date | Self::Json => None,
        }
    }
}

impl ColumnVisibility {
    /// Returns the visibility of a column of the type `T`. The type is a parameter for the compiler's message.
    #[doc(hidden)]
    #[must_use]
    pub const fn of<T: OptionalColumn>(
        column: ColumnDescriptor,
        roles: &'static [&'static str],
        owner: Option<ColumnDescriptor>,
    ) -> Self {
        Self {
            column,
            roles,
            owner,
        }
    }

    /// Describes the callers who see the column: "clients with the role `staff`".
    #[must_use]
    pub fn viewers(&self) -> String {
        let roles: Vec<_> = self.roles.iter().map(|role| format!("`{role}`")).collect();
        let with_role =
            (!roles.is_empty()).then(|| format!("clients with the role {}", roles.join(" or ")));
        let owner = self.owner.map(|owner| {
            if owner.name == self.column.name {
                "clients whose owner id it is".to_owned()
            } else {
                format!("clients whose owner id is the `{}`", owner.member)
            }
        });
        let viewers: Vec<_> = with_role.into_iter().chain(owner).collect();
        viewers.join(" and ")
    }

    /// Returns the rows in which a caller sees the column.
    pub(crate) fn access(&self, caller: &Caller) -> ColumnAccess {
        let caller = match caller {
            Caller::Authenticated(caller) => caller,
            Caller::Anyone | Caller::System => return ColumnAccess::Everywhere,
            // A caller without a credential has no role and no owner id.
            _ => return ColumnAccess::Nowhere,
        };
        if self.roles.iter().any(|role| caller.has_role(role)) {
            return ColumnAccess::Everywhere;
        }
        let rule = self.owner.zip(caller.owner_id());
        let own = rule.and_then(|(owner, id)| Some((owner.name, owner.kind.owner_cell(id)?)));
        own.map_or(ColumnAccess::Nowhere, |(column, id)| {
            ColumnAccess::OwnRows(column, id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn column(name: &'static str, kind: ColumnKind) -> ColumnDescriptor {
        let member = name;
        ColumnDescriptor { name, member, kind }
    }

    fn rule(kind: ColumnKind) -> ColumnVisibility {
        ColumnVisibility {
            column: column("due_at", ColumnKind::Timestamp),
            roles: &["staff", "auditor"],
            owner: Some(column("reader", kind)),
        }
    }

    #[test]
    fn an_owner_sees_the_rows_with_exactly_their_owner_id() {
        let own = |kind, owner_id| {
            let caller = Caller::authenticated("ada", ["reader"]).with_owner_id(owner_id);
            match rule(kind).access(&caller) {
                ColumnAccess::OwnRows("reader", id) => Some(id),
                _ => None,
            }
        };
        assert_eq!(own(ColumnKind::Text, "A-1"), Some(Cell::Text("A-1".into())));
        assert_eq!(own(ColumnKind::Integer, "7"), Some(Cell::Integer(7)));
        for other in ["07", "+7", "seven", ""] {
            assert_eq!(own(ColumnKind::Integer, other), None);
        }
    }

    #[test]
    fn a_role_or_no_authentication_sees_all_rows_and_nobody_else_any() {
        let access = |caller: Caller| rule(ColumnKind::Name).access(&caller);
        for caller in [
            Caller::Anyone,
            Caller::System,
            Caller::authenticated("kim", ["auditor"]),
        ] {
            assert!(matches!(access(caller), ColumnAccess::Everywhere));
        }
        for nobody in [Caller::authenticated("ada", ["reader"]), Caller::Anonymous] {
            assert!(matches!(access(nobody), ColumnAccess::Nowhere));
        }
    }

    #[test]
    fn the_rule_says_who_sees_the_column() {
        let rule = rule(ColumnKind::Name);
        assert_eq!(
            rule.viewers(),
            "clients with the role `staff` or `auditor` and clients whose owner id is the `reader`"
        );
        let own = ColumnVisibility {
            column: column("reader", ColumnKind::Name),
            roles: &[],
            ..rule
        };
        assert_eq!(own.viewers(), "clients whose owner id it is");
    }
}
