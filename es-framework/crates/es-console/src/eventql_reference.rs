//! The short reference of EventQL beside the editor.

use es_eventql::{aggregate_names, function_names};
use maud::{Markup, html};

/// A form of the language and its meaning.
type ReferenceEntry = (&'static str, &'static str);

/// The clauses, in the order of a query.
const CLAUSES: [ReferenceEntry; 7] = [
    ("FROM e IN events", "also subjects, eventtypes, ( query )"),
    ("WHERE condition", "joined by AND, OR, XOR, NOT"),
    ("GROUP BY expression, …", "with HAVING condition"),
    ("ORDER BY expression DESC, …", "before or after GROUP BY"),
    ("SKIP 10 TOP 20", "leaves rows out, and limits them"),
    (
        "PROJECT INTO { id: e.id }",
        "the last clause, and the only other one a query needs",
    ),
    ("PROJECT INTO DISTINCT e.type", "each value once"),
];

/// The parts of expressions.
const EXPRESSIONS: [ReferenceEntry; 6] = [
    (
        "== != < <= > >= CONTAINS",
        "values of different kinds do not compare",
    ),
    (
        "[\"a\", \"b\"] CONTAINS value",
        "true for an element of a list",
    ),
    ("+ - * / %", "numbers; 7 / 2 is 3.5"),
    ("e.data.payload.title", "a missing member is null"),
    (
        "e.id AS INT",
        "also FLOAT, STRING, BOOL, DATE, TIME, DATETIME",
    ),
    ("// … /* … */", "comments"),
];

/// The members of an event.
const MEMBERS: &str = "id, time, source, subject, type, data, hash, predecessorhash, traceparent, tracestate, specversion, datacontenttype, signature";

/// Renders the reference, with an example about an event type of the application.
pub(crate) fn reference(event_type: Option<&str>) -> Markup {
    html! {
        h2 { "Language" }
        (entries(&CLAUSES))
        h2 { "Expressions" }
        (entries(&EXPRESSIONS))
        dl.facts {
            dt { "Members of an event" }
            dd { (MEMBERS) ". All but data are strings." }
            dt { "Functions" }
            dd { code { (joined(function_names())) } }
            dt { "Aggregates" }
            dd { code { (joined(aggregate_names())) } }
        }
        @if let Some(event_type) = event_type {
            h2 { "Example" }
            pre dir="ltr" { code {
                "FROM e IN events\nWHERE e.type == \"" (event_type) "\"\nGROUP BY e.subject\nORDER BY COUNT() DESC\nTOP 10\nPROJECT INTO { subject: e.subject, count: COUNT() }"
            } }
        }
        p.muted { "Conditions on e.subject, e.type and e.id AS INT at the beginning of WHERE let the store skip events." }
    }
}

fn entries(entries: &[ReferenceEntry]) -> Markup {
    html! {
        dl.language {
            @for (form, meaning) in entries {
                dt { code { (form) } }
                dd { (meaning) }
            }
        }
    }
}

fn joined(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(" ")
}
