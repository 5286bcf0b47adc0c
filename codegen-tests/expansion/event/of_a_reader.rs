/// A reader holds a copy.
#[derive(Event)]
#[event(subject = "/readers/{reader}")]
pub struct LoanOpenedEvent {
    pub reader: Uuid,
    pub book: Uuid,
}
