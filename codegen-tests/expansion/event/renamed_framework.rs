#[derive(Event)]
#[es(crate = "crate::facade::es")]
struct ShelfEmptiedEvent {}
