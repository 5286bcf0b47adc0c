//! An application with an inline read model: the points of each player.

use es_framework::prelude::*;

/// The points that the projection of the score board refuses.
pub(super) const POISON: i64 = 13;

/// Adds points to a score.
#[derive(Command)]
#[command(subject = "/scores/{id}", path = "/scores/add")]
pub(super) struct AddPointsCommand {
    pub(super) id: String,
    pub(super) points: i64,
}

/// Points were added to a score.
#[derive(Event)]
pub(super) struct PointsAddedEvent {
    pub(super) id: String,
    pub(super) points: i64,
}

#[handler]
fn add(command: AddPointsCommand) -> PointsAddedEvent {
    let AddPointsCommand { id, points } = command;
    PointsAddedEvent { id, points }
}

/// The score of a player.
#[derive(ReadModel)]
#[read_model(table = "scores", subject = "/scores/{id}", inline)]
pub(super) struct Score {
    #[key]
    pub(super) id: String,
    pub(super) total: i64,
    pub(super) changes: i64,
}

#[projection]
impl Score {
    fn added(row: Option<Self>, event: &PointsAddedEvent) -> Option<Self> {
        assert_ne!(event.points, POISON, "nobody wants these points");
        let row = row.unwrap_or_else(|| Self {
            id: event.id.clone(),
            total: 0,
            changes: 0,
        });
        Some(Self {
            total: row.total + event.points,
            changes: row.changes + 1,
            ..row
        })
    }
}

/// The score of one player.
#[derive(Query)]
#[query(path = "/scores/{id}", row = Score)]
pub(super) struct FindScore {
    pub(super) id: String,
}
