//! The subjects below a subject, a page at a time.

use std::time::Duration;

use es_event::Subject;
use maud::{Markup, html};
use tokio::time::timeout;

use crate::{
    console::Console, notice::NoticePage, page_parts::next_page, query_values::AddressValues,
};

/// The number of subjects on a page.
const PAGE: usize = 100;
/// Time after which a listing ends.
const LIST_TIME: Duration = Duration::from_secs(3);

/// The subjects directly below a subject.
#[derive(Debug, Default)]
pub(crate) struct ChildSubjects {
    subjects: Vec<Subject>,
    /// True if more subjects follow the last one of this page.
    has_more: bool,
    /// True if the event store did not list them in time.
    is_missing: bool,
}

/// Lists the subjects directly below a subject. The query may name the subject after which the page begins.
pub(crate) async fn children(
    console: &Console,
    base: &Subject,
    values: &AddressValues,
) -> Result<ChildSubjects, NoticePage> {
    let after = values.parsed::<Subject>("after");
    let one_more = PAGE.saturating_add(1);
    let listing = console
        .catalog
        .read_child_subjects(base.clone(), after, one_more);
    let Ok(listed) = timeout(LIST_TIME, listing).await else {
        return Ok(ChildSubjects {
            is_missing: true,
            ..ChildSubjects::default()
        });
    };
    let mut subjects = listed?;
    let has_more = subjects.len() > PAGE;
    subjects.truncate(PAGE);
    Ok(ChildSubjects {
        subjects,
        has_more,
        is_missing: false,
    })
}

impl ChildSubjects {
    pub(crate) fn is_empty(&self) -> bool {
        self.subjects.is_empty() && !self.is_missing
    }

    /// Renders the list.
    pub(crate) fn render(&self, base: &Subject) -> Markup {
        html! {
            section.children {
                h2 { "Subjects below" }
                ul.subjects {
                    @for subject in &self.subjects {
                        li { a href={ "/console/subjects" (subject) } { bdi { (own_segment(subject)) } } }
                    }
                }
                @if self.has_more && let Some(last) = self.subjects.last() {
                    @let address = format!("/console/subjects{base}?after={last}");
                    (next_page("Subjects", &address, "More subjects"))
                }
                @if self.is_missing {
                    p.muted { "The event store did not list the subjects in time. Enter a subject above to open it." }
                }
            }
        }
    }
}

/// Returns the last segment of a subject.
pub(crate) fn own_segment(subject: &Subject) -> &str {
    let text = subject.as_str();
    text.rsplit('/').next().unwrap_or(text)
}
