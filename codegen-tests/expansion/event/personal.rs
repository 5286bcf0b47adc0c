/// A reader was registered.
#[derive(Event)]
pub struct ReaderRegisteredEvent {
    pub id: Uuid,
    #[personal(of = id, erased = "erased reader")]
    pub name: String,
    #[personal(of = id)]
    pub phone: Option<String>,
}
