/// A copy can be borrowed again.
#[derive(PublicEvent)]
pub struct CopyAvailable {
    pub id: Uuid,
}
