//! The functions of a read model that lose the type of its rows.

use super::{
    Cell, Project, ProjectionError, RowKey,
    event_changes::key_in_subject,
    read_model::{EventRow, KeyedChange},
};
use es_event::EventView;

/// Decodes an event, and returns the cells of its row. Returns `None` for an event of another type.
type EventCells = fn(&EventView<'_>) -> Option<Result<Vec<Cell>, ProjectionError>>;

/// The functions that say how the rows of a read model follow from events. They are all that is compiled for each read
/// model.
#[derive(Clone, Copy)]
pub(super) enum RowFunctions {
    /// An event changes rows with keys.
    Keyed {
        changes: fn(&EventView<'_>) -> Result<Vec<KeyedChange>, ProjectionError>,
        /// Returns the key of the row that an event changes if its subject tells the key.
        key_in_subject: fn(&EventView<'_>) -> Option<RowKey>,
    },
    /// An event of one type is a row. Other events are none.
    Event(EventCells),
}

impl RowFunctions {
    pub(super) const fn of<R: Project>() -> Self {
        Self::Keyed {
            changes: |event| {
                let changes = R::changes(event)?.into_iter();
                Ok(changes.map(|change| change.change).collect())
            },
            key_in_subject: key_in_subject::<R>,
        }
    }

    pub(super) const fn of_events<E: EventRow>() -> Self {
        Self::Event(|event| {
            let cells = || Ok(event.payload::<E>()?.to_cells()?);
            event.is::<E>().then(cells)
        })
    }
}
