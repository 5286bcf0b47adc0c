/// The shelf is too long.
#[derive(Debug, Rejection)]
#[rejection(invalid, detail = "a shelf of {metres} metres would break")]
struct ShelfTooLong {
    metres: u32,
}
