//! Substring searches among many rows return the rows that a scan of all texts returns, page after page.

use es_framework::{
    command::Services,
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::{QueryDescriptor, QueryParameters},
};
use serde_json::Value;

use super::filled_database::fill_database;
use super::note_board::NoteBoard;

const TITLES: u32 = 12_000;
/// The number of rows on a page, and the number of pages.
const LIMIT: usize = 7;
const PAGES: usize = 3;

const FREQUENT: [&str; 12] = [
    "The",
    "of the",
    "and",
    "Ring",
    "Rings",
    "String",
    "Spring",
    "Über",
    "x-ray",
    "d'Or",
    "Café, du",
    "100%",
];
const RARE: [&str; 6] = [
    "Herring",
    "Overing",
    "ingthe",
    "Pring Sing",
    "B_d",
    "naïve: a",
];
/// No title contains this text, but many titles contain some of its trigrams.
const NOWHERE: [&str; 6] = [
    "rings thex",
    "the ofx",
    "erringth",
    "%",
    "zzxxqqjj",
    "') OR 1=1--",
];

#[derive(Debug, Event)]
struct TitlePrintedEvent {
    number: u32,
    title: String,
}

#[derive(Debug, ReadModel)]
#[read_model(table = "titles")]
struct PrintedTitle {
    #[key]
    number: u32,
    title: String,
    author: String,
}

#[projection]
impl PrintedTitle {
    #[key(number)]
    fn printed(event: TitlePrintedEvent) -> Self {
        Self {
            number: event.number,
            title: event.title,
            author: "J. R. R. Tolkien".to_owned(),
        }
    }
}

/// Searches the titles.
#[derive(Query)]
#[query(path = "/titles", rows = PrintedTitle)]
struct SearchTitles {
    #[filter(contains)]
    title: Option<String>,
    #[filter(contains)]
    author: Option<String>,
}

/// The same titles in each run. Every 1,500th of them has rare words; the last thousand titles have words of their
/// own.
fn title(number: u32) -> String {
    let mut words = Vec::new();
    let mut seed = number as usize * 7_919 + 13;
    for _ in 0..2 + number % 4 {
        words.push(FREQUENT[seed / 7 % FREQUENT.len()]);
        seed = seed * 31 % 1_000_003;
    }
    if number % 1_500 == 700 {
        words.insert(1, RARE[number as usize / 1_500 % RARE.len()]);
    }
    if number + 1_000 > TITLES {
        words.push("Lastingly");
    }
    words.join(" ")
}

/// Returns substrings of three to thirty characters of some titles, and texts that no title contains.
fn parts() -> Vec<String> {
    let some = (0..TITLES).step_by(571).enumerate();
    let some = some.map(|(index, number)| {
        let title: Vec<char> = title(number).chars().collect();
        let length = (3 + index * 5 % 28).min(title.len());
        let begin = index * 3 % (title.len() - length + 1);
        title[begin..begin + length].iter().collect()
    });
    let own = RARE
        .into_iter()
        .chain(NOWHERE)
        .chain(["lastingly", "gs lasting"]);
    some.chain(own.map(String::from)).collect()
}

/// Returns the numbers of the titles on the first pages, and the total.
async fn find(database: &Database, part: &str, author: Option<&str>) -> (Vec<u64>, u64) {
    let (mut numbers, mut cursor, mut total) = (Vec::new(), None, None);
    for _ in 0..PAGES {
        let mut parameters = vec![
            ("title", part.to_owned()),
            ("limit", LIMIT.to_string()),
            ("total", total.is_none().to_string()),
        ];
        parameters.extend(author.map(|author| ("author", author.to_owned())));
        parameters.extend(cursor.map(|cursor| ("cursor", cursor)));
        let parameters = parameters.into_iter();
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        let parameters = QueryParameters::new(parameters).unwrap();
        let parse = QueryDescriptor::of::<SearchTitles>().parse;
        let query = parse(parameters, &Caller::Anyone).unwrap();
        let page = query(database, &Services::default()).await.unwrap();
        let page: Value = serde_json::from_str(page.get()).unwrap();
        let items = page["items"].as_array().unwrap().iter();
        numbers.extend(items.map(|item| item["number"].as_u64().unwrap()));
        total = total.or(page["total"].as_u64());
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    (numbers, total.unwrap())
}

#[tokio::test]
async fn parts_are_found_as_a_look_at_each_title_finds_them() {
    let lowered: Vec<_> = (0..TITLES).map(|one| title(one).to_lowercase()).collect();
    for server in NoteBoard::locations() {
        let models = ReadModels::new([ReadModelDescriptor::of::<PrintedTitle>()]).unwrap();
        let models = models.with_indexes_of(&[QueryDescriptor::of::<SearchTitles>()]);
        let events = (0..TITLES).map(|number| TitlePrintedEvent {
            number,
            title: title(number),
        });
        let database = fill_database(server.as_ref(), models, "/titles", events).await;
        for (index, part) in parts().iter().enumerate() {
            let is_found = |title: &&(u64, &String)| title.1.contains(&part.to_lowercase());
            let found = (0..).zip(&lowered);
            let mut expected: Vec<u64> = found
                .filter(|one| is_found(&one))
                .map(|one| one.0)
                .collect();
            let total = expected.len() as u64;
            expected.truncate(LIMIT * PAGES);
            let author = (index % 2 == 0).then_some("TOLKIEN");
            assert_eq!(
                find(&database, part, author).await,
                (expected, total),
                "{part}"
            );
            assert_eq!(
                find(&database, part, Some("nobody")).await,
                (vec![], 0),
                "{part}"
            );
        }
    }
}
