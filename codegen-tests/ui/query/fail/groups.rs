//! Rows are grouped by columns of their read model that have an order.

use std::collections::BTreeMap;

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct HallBookedEvent {
    hall: String,
}

#[derive(ReadModel)]
#[read_model(table = "halls")]
struct Hall {
    #[key]
    hall: String,
    floor: i64,
    prices: BTreeMap<String, i64>,
}

#[projection]
impl Hall {
    #[key(hall)]
    fn booked(event: HallBookedEvent) -> Self {
        Self {
            hall: event.hall,
            floor: 0,
            prices: BTreeMap::new(),
        }
    }
}

#[derive(ReadModel)]
#[read_model(table = "rooms")]
struct Room {
    #[key]
    hall: String,
}

#[projection]
impl Room {
    #[key(hall)]
    fn booked(event: HallBookedEvent) -> Self {
        Self { hall: event.hall }
    }
}

fn by_a_column_alone(context: &QueryContext<'_>) {
    context.rows::<Hall>().group_by(Hall::hall());
}

fn by_a_column_of_another_read_model(context: &QueryContext<'_>) {
    context.rows::<Hall>().group_by((Room::hall(), Hall::floor()));
}

fn by_a_column_without_order(context: &QueryContext<'_>) {
    context.rows::<Hall>().group_by((Hall::hall(), Hall::prices()));
}

fn by_five_columns(context: &QueryContext<'_>) {
    let (hall, floor) = (Hall::hall(), Hall::floor());
    context.rows::<Hall>().group_by((hall, floor, hall, floor, hall));
}

fn by_columns_of_several_types_in_an_array(context: &QueryContext<'_>) {
    context.rows::<Hall>().group_by([Hall::hall(), Hall::floor()]);
}

fn main() {}
