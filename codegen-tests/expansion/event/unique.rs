/// A reader got a card.
#[derive(Event)]
#[event(releases("lost-card"))]
pub struct CardIssuedEvent {
    pub id: Uuid,
    #[personal(of = id)]
    #[unique("reader-card", trim, ignore_case, nfkc)]
    pub card: Option<String>,
    #[unique("locker")]
    pub locker: u32,
}
