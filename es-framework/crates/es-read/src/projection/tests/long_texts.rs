//! Pages of rows that are sorted or grouped by long texts, which have a long beginning in common.

use std::sync::Arc;

use super::{PATIENCE, write_event};
use crate::prelude::*;
use crate::{
    projection::{Database, Processor, ReadModelDescriptor, ReadModels},
    query::{PageParameters, QueryParameters},
};
use es_event::EventId;
use es_store::memory::MemoryStore;
use es_subscribe::ProgressRegistry;

#[derive(Debug, Event)]
struct EssayWrittenEvent {
    number: u32,
    title: String,
    author: String,
}

#[derive(Debug, Event)]
struct EssayBurntEvent {
    number: u32,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "essays")]
struct Essay {
    #[key]
    number: u32,
    title: String,
    author: String,
}

#[projection]
impl Essay {
    #[key(number)]
    fn written(_: Option<Self>, event: EssayWrittenEvent) -> Option<Self> {
        let EssayWrittenEvent {
            number,
            title,
            author,
        } = event;
        Some(Self {
            number,
            title,
            author,
        })
    }

    #[key(number)]
    fn burnt(_: Option<Self>, _: &EssayBurntEvent) -> Option<Self> {
        None
    }
}

struct Essays {
    store: MemoryStore,
    database: Database,
    progress: ProgressRegistry,
    written: u64,
}

impl Essays {
    async fn open() -> Self {
        let store = MemoryStore::new();
        let models = ReadModels::new([ReadModelDescriptor::of::<Essay>()]).unwrap();
        let database = Database::in_memory(&models).await.unwrap();
        let processor = Processor::new(Arc::new(store.clone()), database.clone(), models);
        let progress = processor.progress();
        tokio::spawn(processor.run());
        Self {
            store,
            database,
            progress,
            written: 0,
        }
    }

    async fn append<E: Event>(&mut self, event: &E) {
        write_event(&self.store, "/essays", event).await;
        let last = EventId::new(self.written);
        self.written += 1;
        let reached = self.progress.wait_until_reached(&[], last, PATIENCE).await;
        reached.unwrap();
    }

    async fn write(&mut self, number: u32, title: &str, author: &str) {
        let event = EssayWrittenEvent {
            number,
            title: title.into(),
            author: author.into(),
        };
        self.append(&event).await;
    }

    /// Returns the titles of a page by title, and the cursor of the next page.
    async fn page(
        &self,
        descending: bool,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<String>, Option<String>), QueryError> {
        let paging = paging(limit, cursor);
        let context = QueryContext::new(&self.database, paging.clone(), Timestamp::now());
        let rows = context.rows::<Essay>();
        let rows = if descending {
            rows.sort_descending(Essay::title())
        } else {
            rows.sort(Essay::title())
        };
        let page = rows.page(&paging).await?;
        let titles = page.items.into_iter().map(|essay| essay.title).collect();
        Ok((titles, page.next_cursor))
    }

    /// Returns the titles of all groups by author and title, page after page.
    async fn groups(&self, limit: u32) -> Vec<([String; 2], u64)> {
        let (mut groups, mut cursor) = (Vec::new(), None);
        loop {
            let paging = paging(limit, cursor);
            let context = QueryContext::new(&self.database, paging.clone(), Timestamp::now());
            let rows = context.rows::<Essay>();
            let grouped = rows.group_by([Essay::author(), Essay::title()]);
            let page = grouped.page((), &paging).await.unwrap();
            let found = page.items.into_iter();
            groups.extend(found.map(|group| (group.key, group.count)));
            let Some(next) = page.next_cursor else {
                return groups;
            };
            assert!(next.len() < 300, "{next}");
            cursor = Some(next);
        }
    }
}

fn paging(limit: u32, cursor: Option<String>) -> PageParameters {
    let limit = ("limit".to_owned(), limit.to_string());
    let cursor = cursor.map(|cursor| ("cursor".to_owned(), cursor));
    let mut given = QueryParameters::new([limit].into_iter().chain(cursor)).unwrap();
    PageParameters::take_from_parameters(&mut given, &[]).unwrap()
}

/// Returns a text of 600 characters with this end.
fn long(end: &str) -> String {
    let beginning = "Über die Länge der Titel ".repeat(30);
    let length = 600 - end.chars().count();
    beginning.chars().take(length).collect::<String>() + end
}

#[tokio::test]
async fn every_row_is_on_one_page_although_the_titles_have_one_beginning() {
    let mut essays = Essays::open().await;
    let ends = ["d", "b", "f", "a", "c", "b", "e", "b"];
    for (number, end) in (0..).zip(ends) {
        essays.write(number, &long(end), "Austen").await;
    }
    essays.write(100, "short", "Austen").await;
    essays.write(101, "Zshort", "Austen").await;
    let sorted = ["Zshort".to_owned(), "short".to_owned()].into_iter();
    let sorted = sorted.chain(["a", "b", "b", "b", "c", "d", "e", "f"].map(long));
    let mut expected: Vec<_> = sorted.collect();
    for descending in [false, true] {
        for limit in 1..=10 {
            let (mut found, mut cursor) = (Vec::new(), None);
            loop {
                let (titles, next) = essays.page(descending, limit, cursor).await.unwrap();
                found.extend(titles);
                let Some(next) = next else { break };
                assert!(next.len() < 300, "{next}");
                cursor = Some(next);
            }
            assert_eq!(found, expected, "{limit}");
        }
        expected.reverse();
    }
}

#[tokio::test]
async fn groups_of_long_texts_come_in_pages() {
    let mut essays = Essays::open().await;
    let mut expected = Vec::new();
    for (number, end) in (0..).zip(["c", "a", "b", "a"]) {
        essays.write(number, &long(end), &long("x")).await;
    }
    for (end, count) in [("a", 2), ("b", 1), ("c", 1)] {
        expected.push(([long("x"), long(end)], count));
    }
    for limit in 1..=4 {
        assert_eq!(essays.groups(limit).await, expected, "{limit}");
    }
}

#[tokio::test]
async fn a_page_of_large_rows_ends_early_and_the_next_one_goes_on() {
    let mut essays = Essays::open().await;
    let large = |end: &str| "x".repeat(3_000_000) + end;
    let ends = ["a", "b", "c", "d", "e"];
    for (number, end) in (0..).zip(ends) {
        essays.write(number, &large(end), "Austen").await;
    }
    let mut expected: Vec<_> = ends.map(large).into();
    for descending in [false, true] {
        let (mut found, mut sizes, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let page = essays.page(descending, 1_000, cursor).await.unwrap();
            sizes.push(page.0.len());
            found.extend(page.0);
            cursor = page.1;
            if cursor.is_none() {
                break;
            }
        }
        assert!(found == expected, "{sizes:?}");
        // The third row begins the next page.
        assert_eq!(sizes, [2, 2, 1]);
        expected.reverse();
    }
    let groups = essays.groups(1_000).await;
    assert!(groups.iter().map(|(key, _)| &key[1]).eq(&ends.map(large)));
    let paging = paging(1_000, None);
    let context = QueryContext::new(&essays.database, paging, Timestamp::now());
    let all = context.rows::<Essay>().all(1_000).await.unwrap();
    assert_eq!(all.len(), 5, "code that asks for all rows gets all");
}

#[tokio::test]
async fn a_row_that_changes_between_two_pages_moves_no_other_row() {
    let mut essays = Essays::open().await;
    for (number, end) in (0..).zip(["a", "b", "c", "d"]) {
        essays.write(number, &long(end), "Austen").await;
    }
    let (first, cursor) = essays.page(false, 2, None).await.unwrap();
    assert_eq!(first, [long("a"), long("b")]);
    let rest = async |essays: &Essays| essays.page(false, 9, cursor.clone()).await;
    // Another column of the last row changes, then the order of the row, then the row disappears.
    essays.write(1, &long("b"), "Brontë").await;
    assert_eq!(rest(&essays).await.unwrap().0, [long("c"), long("d")]);
    essays.write(1, &long("z"), "Brontë").await;
    let moved = [long("c"), long("d"), long("z")];
    assert_eq!(rest(&essays).await.unwrap().0, moved);
    essays.append(&EssayBurntEvent { number: 1 }).await;
    assert_eq!(rest(&essays).await.unwrap().0, [long("c"), long("d")]);
    // Nothing tells where the page begins once the row that came next has changed as well.
    essays.write(2, &long("y"), "Austen").await;
    let error = rest(&essays).await.unwrap_err();
    assert!(error.to_string().contains("begin again"), "{error}");
}

#[tokio::test]
async fn a_cursor_of_long_texts_belongs_to_its_sort_order() {
    let mut essays = Essays::open().await;
    for (number, end) in (0..).zip(["a", "b", "c"]) {
        essays.write(number, &long(end), &long(end)).await;
    }
    let (_, cursor) = essays.page(false, 1, None).await.unwrap();
    let paging = paging(1, cursor);
    let context = QueryContext::new(&essays.database, paging.clone(), Timestamp::now());
    let by_author = context.rows::<Essay>().sort(Essay::author());
    assert!(by_author.page(&paging).await.is_err());
    let by_age = context.rows::<Essay>();
    assert!(by_age.page(&paging).await.is_err());
}
