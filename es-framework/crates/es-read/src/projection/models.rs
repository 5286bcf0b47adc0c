//! The read models of an application, checked before anything starts.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{ReadModelDescriptor, SearchForm};
use es_event::{DuplicateDeclaration, Hash, NamedKind, sort_by_unique_name};

/// The checked read models of an application, sorted by name.
///
/// ```
/// use es_framework::{prelude::*, projection::{ReadModelDescriptor, ReadModels}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// let models = ReadModels::new([ReadModelDescriptor::of::<BookCopy>()])?;
/// assert!(models.find_table("book_copies").is_some());
/// # Ok::<_, es_framework::event::DuplicateDeclaration>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadModels(Vec<Table>);

/// The layout of a read model's table: the model, and the columns that queries compare or search.
///
/// ```
/// use es_framework::{prelude::*, projection::{RowIdentity, ReadModelDescriptor, ReadModels}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// let models = ReadModels::new([ReadModelDescriptor::of::<BookCopy>()])?;
/// let mut keys = models.iter().map(|table| table.model.identity);
/// assert_eq!(keys.next(), Some(RowIdentity::Column("id")));
/// # Ok::<_, es_framework::event::DuplicateDeclaration>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    /// The read model.
    pub model: ReadModelDescriptor,
    /// The columns with an index.
    pub(crate) indexed: BTreeSet<&'static str>,
    /// The columns that queries search for a substring, each with the form of its texts that searches compare. A
    /// column beside each of them stores this form, because SQL ignores the case of ASCII letters only.
    pub(crate) searched: BTreeMap<&'static str, SearchForm>,
    /// True for a shadow table.
    pub(super) is_shadow: bool,
    /// True if events of the read model may hold personal data.
    pub(super) holds_personal_data: bool,
    /// The last erasure of personal data that was announced before a table is created. Another one means that the rows
    /// have to be rebuilt.
    pub(super) erasure: Option<Hash>,
}

impl Table {
    /// Returns the name in the database.
    pub(crate) fn name(&self) -> Cow<'static, str> {
        if self.is_shadow {
            format!("es_next_{}", self.model.name).into()
        } else {
            self.model.name.into()
        }
    }

    /// Returns the shadow table, which a rebuild fills while this table answers queries.
    pub(super) fn shadow_table(&self) -> Self {
        Self {
            is_shadow: true,
            ..self.clone()
        }
    }
}

fn searched(model: &ReadModelDescriptor) -> BTreeMap<&'static str, SearchForm> {
    let declared = model.searched.iter();
    declared.map(|one| (one.column, one.form)).collect()
}

/// The use that queries make of a column.
///
/// ```
/// use es_framework::{prelude::*, projection::IndexKind};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// # #[derive(Query)]
/// # #[query(path = "/books", rows = BookCopy)]
/// # struct BrowseStock {
/// #     #[filter(contains)]
/// #     title: Option<String>,
/// # }
/// assert_eq!(BrowseStock::INDEXES[0].by, IndexKind::Searched);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Queries compare the column or sort by it.
    Compared,
    /// Queries search the column for a substring.
    Searched,
}

impl ReadModels {
    /// Checks the read models that were declared.
    ///
    /// # Errors
    /// Two read models have the same name.
    pub fn new(
        declared: impl IntoIterator<Item = ReadModelDescriptor>,
    ) -> Result<Self, DuplicateDeclaration> {
        let name = |model: &ReadModelDescriptor| (model.name, model.declaration);
        let models = sort_by_unique_name(NamedKind::ReadModel, declared, name)?;
        let table = |model: ReadModelDescriptor| Table {
            model,
            indexed: model.indexed.iter().copied().collect(),
            searched: searched(&model),
            is_shadow: false,
            holds_personal_data: false,
            erasure: None,
        };
        Ok(Self(models.into_iter().map(table).collect()))
    }

    /// Adds the index that a use of a column needs.
    pub(crate) fn with_column_index(
        mut self,
        table: &str,
        column: &'static str,
        by: IndexKind,
    ) -> Self {
        let tables = self.0.iter_mut().filter(|known| known.model.name == table);
        for known in tables {
            match by {
                IndexKind::Compared => {
                    known.indexed.insert(column);
                }
                IndexKind::Searched => {
                    known.searched.entry(column).or_insert(SearchForm::Folded);
                }
            }
        }
        self
    }

    /// Returns the tables of the read models, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.iter()
    }

    /// Declares which events may hold personal data.
    pub(super) fn with_personal_events(mut self, is_personal: impl Fn(&str) -> bool) -> Self {
        for table in &mut self.0 {
            let mut events = table.model.events.iter();
            table.holds_personal_data = events.any(|event| is_personal(event));
        }
        self
    }

    /// Returns the tables of the read models that may hold personal data.
    pub(super) fn personal_tables(&self) -> impl Iterator<Item = &Table> {
        self.iter().filter(|table| table.holds_personal_data)
    }

    /// Requires rows that are built after an erasure, where they may hold personal data.
    pub(super) fn require_erasure(&mut self, erasure: Option<Hash>) {
        let tables = self.0.iter_mut();
        for table in tables.filter(|table| table.holds_personal_data) {
            table.erasure = erasure;
        }
    }

    /// Returns the table of the read model with this name.
    #[must_use]
    pub fn find_table(&self, name: &str) -> Option<&Table> {
        self.0.iter().find(|table| table.model.name == name)
    }

    /// Returns the tables by the names of their read models.
    pub(crate) fn tables_by_name(&self) -> BTreeMap<&'static str, Table> {
        let named = |table: &Table| (table.model.name, table.clone());
        self.0.iter().map(named).collect()
    }
}
