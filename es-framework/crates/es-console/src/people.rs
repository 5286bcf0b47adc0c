//! The people whose personal data events hold: find, export, verify and erase. Operators only.

use axum::http::{HeaderValue, header};
use es_event::Subject;
use es_personal::{PersonReport, PersonalData, StoredForm, Verification, person_of};
use maud::{Markup, html};
use uuid::Uuid;

use crate::{
    console::Console,
    json_file::respond_with_json,
    layout::{Section, Visitor, operator_controls},
    notice::NoticePage,
    page_parts::{event_link, wide_table},
    page_request::{PageRequest, PageResult},
    query_values::{self, AddressValues},
    text_view::counted,
};

/// The path of the page.
pub(crate) const PATH: &str = "/console/people";

/// The field with the subject of the person.
const SUBJECT: &str = "subject";

/// The most entries of a list.
const LISTED: usize = 100;

/// A person whom an operator looks at.
struct Person<'a> {
    data: &'a PersonalData,
    subject: Subject,
    id: Uuid,
}

impl<'a> Person<'a> {
    /// Finds the person whom a form or the query of an address names.
    fn find(page: &'a PageRequest, values: &AddressValues) -> Result<Self, NoticePage> {
        if !is_operator(&page.visitor) {
            let detail = "Sign in as an operator to see the data of people.";
            return Err(NoticePage::forbidden(detail));
        }
        let data = page.console().personal_data.as_ref().ok_or_else(|| {
            NoticePage::not_found("No event of this application holds personal data.")
        })?;
        let subject: Subject = values.required(SUBJECT)?;
        let id =
            person_of(&subject).map_err(|error| NoticePage::invalid_input(format!("{error}.")))?;
        Ok(Self { data, subject, id })
    }

    /// Refuses an id that no event names as a person.
    async fn known(self) -> Result<Self, NoticePage> {
        let unknown = self.data.find_unknown_person(&self.subject, self.id);
        match unknown.await? {
            Some(unknown) => Err(NoticePage::not_found(format!("{unknown}."))),
            None => Ok(self),
        }
    }

    fn address(&self, page: &str) -> String {
        let path = format!("{PATH}{page}");
        query_values::address(&path, &[(SUBJECT, self.subject.as_str())])
    }
}

const fn is_operator(visitor: &Visitor) -> bool {
    matches!(
        visitor,
        Visitor::OperatorClient | Visitor::SignedInOperator { .. }
    )
}

/// Shows the form, and all that is stored about the person whom it names.
pub(crate) async fn show_person(page: PageRequest) -> PageResult {
    let (console, visitor) = (page.console(), &page.visitor);
    if page.query.value_or_empty(SUBJECT).is_empty() {
        return respond(&page, &search_form(console, visitor, ""));
    }
    let person = Person::find(&page, &page.query)?;
    let report = person.data.find(person.id, false).await?;
    let content = html! {
        (search_form(console, visitor, person.subject.as_str()))
        (render_report(&report))
        section.card {
            h2 { "Act on this person" }
            div.actions {
                a.quiet-link href=(person.address("/export")) { "Export" }
                a.quiet-link href=(person.address("/erase")) { "Erase…" }
            }
            (verify_form(visitor, &person))
        }
    };
    respond(&page, &content)
}

/// Responds with all that is stored about a person as a file.
pub(crate) async fn export_person(page: PageRequest) -> PageResult {
    let person = Person::find(&page, &page.query)?;
    tracing::info!(person = %person.id, "an operator exports the personal data of a person from the console");
    let report = person.data.find(person.id, true).await?;
    let json = serde_json::value::to_raw_value(&report)
        .map_err(|error| NoticePage::invalid_input(error.to_string()))?;
    let mut response = respond_with_json(&json);
    let cut = if report.is_complete {
        ""
    } else {
        "-incomplete"
    };
    let name = format!("attachment; filename=\"{}{cut}.json\"", person.id);
    if let Ok(name) = HeaderValue::from_str(&name) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// States the consequences of an erasure.
pub(crate) async fn confirm_erasure(page: PageRequest) -> PageResult {
    let person = Person::find(&page, &page.query)?.known().await?;
    let counts = person.data.verify(person.id, &[]).await?;
    let controls = html! {
        input type="hidden" name="subject" value=(person.subject.as_str());
        button.send type="submit" { "Erase" }
        a.quiet-link href=(person.address("")) { "Cancel" }
    };
    let content = html! {
        div.notice {
            h1 { "Erase " bdi { (person.subject.as_str()) } "?" }
            ul.consequences {
                li { (counted(count(counts.sealed), "value")) " in events cannot be read any more, nor in any backup or copy of the events. Nothing brings them back." }
                li { "Cached states and snapshots are dropped, and the read models with personal data are rebuilt." }
                li { "Commands that would store more of the person are refused." }
                li { (counted(count(counts.linked_event_count), "event")) " that name the person by the id stay, under this pseudonym." }
                @if counts.plain > 0 { li { (counted(count(counts.plain), "value")) " were never sealed. They stay readable, because events are never changed." } }
                li { "Copies of the key store, exports, and the data that other programs received are not reached." }
            }
            form.inline method="post" action={ (PATH) "/erase" } {
                (operator_controls(&page.visitor, &controls, "to do this"))
            }
        }
    };
    respond(&page, &content)
}

/// Erases a person, and searches the events and the read models for the values that were there before.
pub(crate) async fn erase_person(page: PageRequest) -> PageResult {
    let person = Person::find(&page, &page.read_form()?)?.known().await?;
    tracing::warn!(person = %person.id, "an operator erases the personal data of a person from the console");
    let (erasure, verification) = person.data.erase_and_verify(person.id).await?;
    let content = html! {
        p { "Dropped: " (erasure.done.join(", ")) "." }
        @if !erasure.unreached.is_empty() {
            p.bad role="alert" { "Not reached yet: " (erasure.unreached.join("; ")) ". The application tries again by itself." }
        }
        (render_verification(&verification))
    };
    respond(&page, &render_result("Erased", &person, &content))
}

/// Searches for values that an operator enters.
pub(crate) async fn verify_person(page: PageRequest) -> PageResult {
    let form: AddressValues = page.read_form()?;
    let person = Person::find(&page, &form)?.known().await?;
    let lines = form.value_or_empty("values").lines().map(str::trim);
    let filled = lines.filter(|line| !line.is_empty());
    let values: Vec<_> = filled.map(str::to_owned).collect();
    let verification = person.data.verify(person.id, &values).await?;
    let content = render_result("Verification", &person, &render_verification(&verification));
    respond(&page, &content)
}

fn render_result(title: &str, person: &Person<'_>, content: &Markup) -> Markup {
    html! {
        div.bar { h1 { (title) } }
        section.card {
            (content)
            p { a href=(person.address("")) { "To this person" } }
        }
    }
}

fn respond(page: &PageRequest, content: &Markup) -> PageResult {
    page.respond(Section::People, "People", content)
}

fn search_form(console: &Console, visitor: &Visitor, subject: &str) -> Markup {
    html! {
        div.bar { h1 { "People" } }
        p.muted { "All that is stored about a person, in events and in read models." }
        @if is_operator(visitor) {
            form.filter.opener method="get" action=(PATH) {
                div.field {
                    label for="subject" { "Subject of the person" }
                    input #subject type="text" name="subject" value=(subject) required autocomplete="off" placeholder={ (console.example_person()) "/…" };
                }
                div.buttons { button.send type="submit" { "Find" } }
            }
        } @else {
            p { a href="/console/sign-in" { "Sign in as operator" } " to see the data of people." }
        }
    }
}

fn render_report(report: &PersonReport) -> Markup {
    let titles = ["Event", "Type", "Value", "Stored"].map(|title| html! { (title) });
    let values = html! {
        @for one in report.events.iter().take(LISTED) {
            tr {
                td { (event_link(one.event)) }
                td { (one.event_type) }
                td { code { (one.path) } }
                td { (form_name(one.state)) }
            }
        }
    };
    html! {
        section.card {
            h2 { "Personal values in events" }
            @if report.events.is_empty() { p.empty { "There are none." } }
            @else {
                (wide_table("Personal values", &titles, &values))
                @if report.events.len() > LISTED {
                    p.muted { "The export has " (report.events.len()) "." }
                }
            }
        }
        section.card {
            h2 { "Other events and rows with the id" }
            dl.facts {
                dt { "Events" }
                dd { (report.linked_events.len()) }
                @for rows in &report.read_models {
                    dt { a href={ "/console/rows/" (rows.read_model) } { (rows.read_model) } }
                    dd { (counted(count(rows.count), "row")) }
                }
            }
            @if !report.is_complete { p.bad { "There are more. The lists and the export are cut; a verification counts all." } }
        }
    }
}

fn verify_form(visitor: &Visitor, person: &Person<'_>) -> Markup {
    let button = html! { button.send type="submit" { "Verify" } };
    html! {
        form.editor method="post" action={ (PATH) "/verify" } {
            input type="hidden" name="subject" value=(person.subject.as_str());
            div.field {
                label for="values" { "Values that must be gone, one a line" }
                textarea #values name="values" rows="3" spellcheck="false" autocomplete="off" {}
            }
            div.buttons { (operator_controls(visitor, &button, "to do this")) }
        }
    }
}

fn render_verification(verification: &Verification) -> Markup {
    html! {
        @for pending in &verification.pending { p.bad role="alert" { "Not erased yet: " (pending) "." } }
        p {
            @if verification.sealed == 0 && verification.plain == 0 { "No value of the person can be read from the events." }
            @else { "Values of the person can be read from the events: " (verification.sealed) " sealed, " (verification.plain) " never sealed, in " (counted(count(verification.plain_event_count), "event")) "." }
        }
        @if !verification.searched.is_empty() {
            p { "Searched for plain values: " (verification.searched.join(", ")) "." }
            @if verification.found.is_empty() { p { "None was found." } }
            @else { p.bad role="alert" { "Found, perhaps of another person: " (verification.found.join(", ")) "." } }
        }
        @if !verification.unsearched.is_empty() { p.bad role="alert" { "Not searched: " (verification.unsearched.join(", ")) "." } }
        @if !verification.is_complete { p.bad role="alert" { "Not all places or values are named." } }
    }
}

const fn form_name(form: StoredForm) -> &'static str {
    match form {
        StoredForm::Sealed => "sealed",
        StoredForm::Erased => "erased",
        StoredForm::Unreadable => "sealed, and does not open",
        StoredForm::Plain => "plain: it cannot be erased",
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_is_cut_says_so() {
        let report = |is_complete| PersonReport {
            person: Uuid::nil(),
            events: Vec::new(),
            linked_events: Vec::new(),
            read_models: Vec::new(),
            is_complete,
        };
        let text = |is_complete| render_report(&report(is_complete)).into_string();
        assert!(text(false).contains("cut") && !text(true).contains("cut"));
    }

    #[test]
    fn a_verification_shows_the_number_of_all_events() {
        let verification = Verification {
            sealed: 1,
            plain: 408,
            plain_event_count: 102,
            ..Verification::default()
        };
        let text = render_verification(&verification).into_string();
        assert!(
            text.contains("1 sealed, 408 never sealed, in 102 events"),
            "{text}"
        );
    }
}
