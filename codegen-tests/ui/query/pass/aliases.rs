//! The type of a parameter decides how many values it takes, whatever its name.

#![deny(warnings)]

use es_framework::{
    prelude::*,
    query::{ParameterDescriptions, QueryParameters},
};

type Text = Option<String>;
type Texts = Vec<String>;
type Id = Uuid;

#[derive(Clone, Copy, Debug, PartialEq, Value)]
enum Cover {
    Hard,
    Soft,
}

type AnyCover = Option<Cover>;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct LeafletPrintedEvent {
    id: Id,
    title: String,
}

#[derive(ReadModel)]
#[read_model(table = "leaflets", subject = "/leaflets/{id}")]
struct Leaflet {
    #[key]
    id: Id,
    title: String,
    cover: Cover,
    note: Text,
}

#[projection]
impl Leaflet {
    fn printed(event: LeafletPrintedEvent) -> Self {
        Self {
            id: event.id,
            title: event.title,
            cover: Cover::Soft,
            note: None,
        }
    }
}

#[derive(Query)]
#[query(path = "/leaflets", rows = Leaflet)]
struct BrowseLeaflets {
    #[filter(contains)]
    title: Text,
    #[filter(one_of(title))]
    titles: Texts,
    #[filter(eq)]
    cover: AnyCover,
    #[filter(eq)]
    note: Text,
}

#[derive(Query)]
#[query(path = "/leaflets/{id}", row = Leaflet)]
struct FindLeaflet {
    id: Id,
}

fn parameters(pairs: &[(&str, &str)]) -> QueryParameters {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    QueryParameters::new(pairs.iter().map(owned)).unwrap()
}

#[test]
fn a_parameter_of_an_alias_of_an_option_may_be_absent() {
    let none = BrowseLeaflets::parse(&mut parameters(&[])).unwrap();
    assert_eq!((none.title, none.titles.len(), none.cover), (None, 0, None));
    let given = [("title", "a"), ("titles", "b"), ("titles", "c"), ("cover", "hard")];
    let given = BrowseLeaflets::parse(&mut parameters(&given)).unwrap();
    assert_eq!(given.title.as_deref(), Some("a"));
    assert_eq!(given.titles, ["b", "c"]);
    assert_eq!(given.cover, Some(Cover::Hard));
    assert!(FindLeaflet::parse(&mut parameters(&[])).is_err());
}

#[test]
fn the_description_of_a_parameter_follows_from_its_type() {
    let mut generator = schemars::SchemaGenerator::default();
    let mut parameters = ParameterDescriptions::new(&mut generator);
    BrowseLeaflets::describe(&mut parameters);
    let described = parameters.into_vec();
    let described: Vec<_> = described
        .iter()
        .map(|one| (one.name, one.required, one.several))
        .collect();
    let expected = [
        ("title", false, false),
        ("titles", false, true),
        ("cover", false, false),
        ("note", false, false),
    ];
    assert_eq!(described, expected);
}
