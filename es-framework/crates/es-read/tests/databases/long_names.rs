//! A read model with long names, whose indexes PostgreSQL cannot name after their columns.

use es_framework::prelude::*;

use super::{note_board::NoteBoard, running_read_model::RunningReadModel};

#[derive(Debug, Event)]
struct BookReservedEvent {
    reservation: String,
    copy: String,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "reservations_of_readers_by_title_and_branch_library")]
struct Reservation {
    #[key]
    reservation_identifier_of_the_library: String,
    #[index]
    reservation_identifier_of_the_copy: String,
}

#[projection]
impl Reservation {
    #[key(reservation)]
    fn reserved(event: BookReservedEvent) -> Self {
        Self {
            reservation_identifier_of_the_library: event.reservation,
            reservation_identifier_of_the_copy: event.copy,
        }
    }
}

async fn reserve(model: &RunningReadModel, reservation: &str) {
    let event = BookReservedEvent {
        reservation: reservation.to_owned(),
        copy: "copy 7".to_owned(),
    };
    let last = model.append("/reservations", &[event]).await;
    model.await_position(last).await;
    let of_copy = Reservation::reservation_identifier_of_the_copy().eq(&"copy 7".to_owned());
    let rows = model.context().rows::<Reservation>().filter(of_copy);
    let rows = rows.all(10).await.unwrap();
    let last = rows.last().unwrap();
    assert_eq!(last.reservation_identifier_of_the_library, reservation);
}

#[tokio::test]
async fn a_table_with_long_names_has_all_its_indexes_and_is_rebuilt() {
    for location in NoteBoard::locations() {
        let is_postgres = location.is_some();
        let mut model = RunningReadModel::start::<Reservation>(&[], location).await;
        for rebuild in ["first", "second", "third"] {
            reserve(&model, rebuild).await;
            if !is_postgres {
                continue;
            }
            let indexes =
                model.run_sql("SELECT count(*) FROM pg_indexes WHERE tablename LIKE 'reserv%'");
            assert_eq!(
                indexes.trim(),
                "3",
                "the primary key and two more: {rebuild}"
            );
            model.run_sql("UPDATE es_checkpoint SET definition = 'of an older declaration'");
            model = model.restart().await;
        }
    }
}
