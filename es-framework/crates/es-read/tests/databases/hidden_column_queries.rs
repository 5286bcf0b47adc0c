//! The queries that are refused to callers who do not see a column, as the OpenAPI document says.

use es_framework::{
    prelude::*,
    query::{QueryDescriptor, QueryRoute, QueryRouteTarget},
};

#[derive(Debug, Event)]
struct CardIssuedEvent {
    number: u32,
    reader: Option<String>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "cards")]
struct Card {
    #[key]
    number: u32,
    #[visible(role = "staff")]
    reader: Option<String>,
}

#[projection]
impl Card {
    #[key(number)]
    fn issued(event: CardIssuedEvent) -> Self {
        Self {
            number: event.number,
            reader: event.reader,
        }
    }
}

#[derive(Query)]
#[query(path = "/cards/{number}", row = Card)]
struct FindCard {
    number: u32,
}

/// The key finds the row, so that the reader needs no index.
#[derive(Query)]
#[query(path = "/cards/{number}/of", row = Card)]
struct FindCardOfReader {
    number: u32,
    #[filter(eq)]
    reader: String,
}

#[derive(Query)]
#[query(path = "/cards", rows = Card)]
struct BrowseCards {
    #[filter(at_least(number))]
    first: Option<u32>,
}

#[derive(Query)]
#[query(path = "/cards/by-reader", rows = Card, order = reader)]
struct BrowseCardsByReader {}

#[derive(Query)]
#[query(path = "/cards/sorted", rows = Card, sort = [number, reader])]
struct BrowseSortedCards {}

#[derive(Query)]
#[query(path = "/cards/count")]
struct CountCards {}

#[query_handler]
async fn count_cards(_: CountCards, context: &QueryContext<'_>) -> Result<u64, QueryError> {
    let rows = context.rows::<Card>();
    rows.aggregate(Card::reader().count()).await
}

#[test]
fn a_query_that_may_compare_a_hidden_column_is_known() {
    let queries = [
        (QueryDescriptor::of::<FindCard>(), false),
        (QueryDescriptor::of::<FindCardOfReader>(), true),
        (QueryDescriptor::of::<BrowseCards>(), false),
        (QueryDescriptor::of::<BrowseCardsByReader>(), true),
        (QueryDescriptor::of::<BrowseSortedCards>(), true),
        (QueryDescriptor::of::<CountCards>(), true),
    ];
    for (query, expected) in queries {
        let route = QueryRoute {
            path: query.path.to_owned(),
            declaration: query.declaration,
            target: QueryRouteTarget::Query(query),
            visibility: Card::VISIBILITY.to_vec(),
        };
        let found = route.may_compare_hidden_column();
        assert_eq!(found, expected, "{}", query.name);
    }
}
