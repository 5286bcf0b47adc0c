//! The rooms, which a course of treatments reserves for the same day of several weeks.

use fw::{jiff::ToSpan as _, prelude::*};

/// Reserves a room for a course.
#[derive(Command)]
#[command(subject = "/courses/{id}", condition = pristine, role = "staff")]
pub struct ReserveRoomCommand {
    /// The course.
    pub id: Uuid,
    /// The number of the room.
    pub room: u32,
    /// The first day.
    pub first: Date,
    /// The number of weeks.
    #[validate(range(min = 1, max = 52))]
    pub weeks: u16,
}

impl ReserveRoomCommand {
    /// Returns the same day of each week.
    fn days(&self) -> impl Iterator<Item = Date> {
        self.first.series(1.week()).take(self.weeks.into())
    }
}

/// A course has a room on a day.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/rooms/{room}/days/{day}")]
pub struct RoomReservedEvent {
    /// The number of the room.
    pub room: u32,
    /// The day.
    pub day: Date,
    /// The course.
    pub course: Uuid,
}

/// A course began to reserve rooms.
#[derive(Debug, PartialEq, Event)]
pub struct CoursePlannedEvent {
    /// The course.
    pub id: Uuid,
}

/// A day of a room that a course has.
#[derive(State)]
pub struct ReservedDay;

#[evolve]
impl ReservedDay {
    fn reserved(_: &RoomReservedEvent) -> Self {
        Self
    }
}

/// Another course has the room
#[derive(Debug, PartialEq, Rejection)]
#[rejection(conflict, detail = "another course has the room on {day}")]
pub struct RoomIsTaken {
    /// The first day on which the room is not free.
    pub day: Date,
}

#[handler]
fn reserve(
    command: ReserveRoomCommand,
    #[subject("/rooms/{room}/days/{day}", day in ReserveRoomCommand::days)] days: Vec<
        Option<&ReservedDay>,
    >,
) -> Result<(CoursePlannedEvent, Vec<RoomReservedEvent>), RoomIsTaken> {
    let taken = command.days().zip(days).find(|(_, state)| state.is_some());
    if let Some((day, _)) = taken {
        return Err(RoomIsTaken { day });
    }
    let ReserveRoomCommand { id, room, .. } = command;
    let reserved = command.days().map(|day| RoomReservedEvent {
        room,
        day,
        course: id,
    });
    Ok((CoursePlannedEvent { id }, reserved.collect()))
}
