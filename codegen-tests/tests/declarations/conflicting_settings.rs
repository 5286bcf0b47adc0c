//! Two settings with the same flag prevent the start.

use es_framework::{App, prelude::*};

mod books {
    use super::*;

    #[derive(Settings)]
    pub(crate) struct Lending {
        /// The number of days for which a book is lent.
        #[setting(default = 28)]
        pub(crate) loan_days: i64,
    }
}

mod films {
    use super::*;

    #[derive(Settings)]
    pub(crate) struct Lending {
        /// The number of days for which a film is lent.
        #[setting(default = 7, env = "FILM_DAYS")]
        pub(crate) loan_days: i64,
    }
}

#[derive(Event)]
struct ShopOpenedEvent {
    days: i64,
}

#[derive(Command)]
#[command(subject = "/shops/{id}")]
struct OpenShopCommand {
    id: Uuid,
}

#[handler]
fn open(_: OpenShopCommand, books: &books::Lending, films: &films::Lending) -> ShopOpenedEvent {
    let days = books.loan_days.max(films.loan_days);
    ShopOpenedEvent { days }
}

/// Returns the place of the line that starts with this text.
fn place(start: &str, occurrence: usize) -> String {
    let lines = include_str!("conflicting_settings.rs").lines().zip(1..);
    let mut lines = lines.filter(|(line, _)| line.trim().starts_with(start));
    let (_, line) = lines.nth(occurrence).unwrap();
    format!("{}:{line}", file!())
}

#[test]
fn an_application_with_one_flag_twice_does_not_start() {
    let error = App::new("shop").run().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "shop does not start: two settings want the flag --loan-days: loan_days of Lending at {} and loan_days of Lending at {}: rename a field",
            place("pub(crate) struct Lending", 0),
            place("pub(crate) struct Lending", 1),
        )
    );
}
