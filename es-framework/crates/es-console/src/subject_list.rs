//! The subjects below a subject, a page at a time.

use std::time::{Duration, Instant};

use es_event::Subject;
use futures_util::TryStreamExt as _;
use maud::{Markup, html};

use crate::{console::Console, notice::Notice, query_values::QueryValues, text_view::grouped};

/// The number of subjects on a page.
const PAGE: usize = 100;
/// The number of subjects that one page reads at most. The store lists all subjects below another one.
const LISTED: u64 = 200_000;
/// Time after which a listing ends.
const LIST_TIME: Duration = Duration::from_secs(3);

/// The subjects directly below a subject.
#[derive(Debug, Default)]
pub(crate) struct ChildSubjects {
    subjects: Vec<Subject>,
    /// True if there are more after the last one.
    has_more: bool,
    /// The number of subjects that were read, if the listing ended early.
    ended_after: Option<u64>,
}

/// Lists the subjects directly below a subject. The query may name the subject after which the page begins.
pub(crate) async fn children(
    console: &Console,
    base: &Subject,
    query: &str,
) -> Result<ChildSubjects, Notice> {
    let after = QueryValues::parse(query).parsed::<Subject>("after");
    let begin = Instant::now();
    let mut subjects = console.store.read_subjects(base.clone());
    let mut found = ChildSubjects::default();
    let mut read = 0_u64;
    while let Some(subject) = subjects.try_next().await? {
        read = read.saturating_add(1);
        if read >= LISTED || begin.elapsed() > LIST_TIME {
            found.ended_after = Some(read);
            break;
        }
        let is_new = after.as_ref().is_none_or(|after| subject > *after);
        if !is_new || subject.parent().as_ref() != Some(base) {
            continue;
        }
        if found.subjects.len() >= PAGE {
            found.has_more = true;
            break;
        }
        found.subjects.push(subject);
    }
    Ok(found)
}

impl ChildSubjects {
    pub(crate) fn is_empty(&self) -> bool {
        self.subjects.is_empty() && self.ended_after.is_none()
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
                    nav.paging aria-label="Subjects" {
                        a.quiet-link rel="next" href={ "/console/subjects" (base) "?after=" (last) } { "More subjects" }
                    }
                }
                @if let Some(read) = self.ended_after {
                    p.muted { "The list ends after " (grouped(read)) " subjects. Enter the subject above to open another one." }
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
