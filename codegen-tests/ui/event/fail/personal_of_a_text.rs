//! The person is named by a text.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
pub struct ReaderRegisteredEvent {
    pub mail: String,
    #[personal(of = mail, erased = "erased reader")]
    pub name: String,
}

fn main() {}
