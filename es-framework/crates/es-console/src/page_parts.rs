//! The parts that pages share: links to events and subjects, tables, and the link to the next page of a list.

use es_event::{EventId, Subject};
use maud::{Markup, html};

/// Renders a link to an event by its id.
pub(crate) fn event_link(id: EventId) -> Markup {
    html! { a href={ "/console/events/" (id) } { (id) } }
}

/// Renders a link to a subject by its name.
pub(crate) fn subject_link(subject: &Subject) -> Markup {
    html! { a href={ "/console/subjects" (subject) } { bdi { (subject) } } }
}

/// Renders a table that scrolls for itself if it is wider than the page.
pub(crate) fn wide_table(label: &str, columns: &[Markup], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.rows {
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Renders the link to the next page of a list.
pub(crate) fn next_page(list: &str, address: &str, label: &str) -> Markup {
    html! {
        nav.paging aria-label=(list) { a.quiet-link rel="next" href=(address) { (label) } }
    }
}
