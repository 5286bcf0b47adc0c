//! Columns without a value, in conditions and in lists, in each database.

use es_framework::{
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::{Condition, PageParameters},
};

use super::filled_database::fill_database;
use super::note_board::NoteBoard;
use super::postgres_server::PostgresServer;

#[derive(Debug, Clone, Event)]
struct ParcelSentEvent {
    number: u32,
    grams: Option<u32>,
    sender: Option<String>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "parcels")]
struct Parcel {
    #[key]
    number: u32,
    grams: Option<u32>,
    #[visible(owner)]
    sender: Option<String>,
}

#[projection]
impl Parcel {
    #[key(number)]
    fn sent(event: ParcelSentEvent) -> Self {
        Self {
            number: event.number,
            grams: event.grams,
            sender: event.sender,
        }
    }
}

/// The parcels in one database.
struct Depot {
    database: Database,
    _server: Option<PostgresServer>,
}

impl Depot {
    /// Three parcels, of which the second has no values.
    async fn open(server: Option<PostgresServer>) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Parcel>()]).unwrap();
        let parcel = |number, grams, sender: Option<&str>| ParcelSentEvent {
            number,
            grams,
            sender: sender.map(str::to_owned),
        };
        let parcels = [
            parcel(1, Some(30), Some("ada")),
            parcel(2, None, None),
            parcel(3, Some(50), Some("bob")),
        ];
        let database = fill_database(server.as_ref(), models, "/parcels", parcels).await;
        let _server = server;
        Self { database, _server }
    }

    fn context(&self, caller: Caller) -> QueryContext<'_> {
        let paging = PageParameters::default();
        QueryContext::new(&self.database, paging, Timestamp::now()).with_caller(caller)
    }

    async fn select(&self, condition: Condition<Parcel>, caller: Caller) -> Vec<u32> {
        let context = self.context(caller);
        let rows = context.rows::<Parcel>().filter(condition);
        let rows = rows.all(10).await.unwrap();
        rows.into_iter().map(|row| row.number).collect()
    }
}

#[tokio::test]
async fn a_missing_value_is_equal_to_itself_and_in_no_order() {
    for location in NoteBoard::locations() {
        let depot = Depot::open(location).await;
        let grams = Parcel::grams;
        for (condition, expected) in [
            (grams().eq(&None::<u32>), vec![2]),
            (grams().ne(&None::<u32>), vec![1, 3]),
            (grams().one_of(&[None, Some(50)]), vec![2, 3]),
            (grams().one_of(&[None::<u32>]), vec![2]),
            (grams().one_of(&[Some(30), Some(50)]), vec![1, 3]),
            (grams().at_least(&None::<u32>), vec![]),
            (grams().at_most(&None::<u32>), vec![]),
            (grams().above(&None::<u32>), vec![]),
            (grams().below(&None::<u32>), vec![]),
            (grams().above(&None::<u32>).or(grams().eq(&30)), vec![1]),
        ] {
            let case = format!("{condition:?}");
            let found = depot.select(condition, Caller::Anyone).await;
            assert_eq!(found, expected, "{case}");
        }
        // The sender of another one is as good as missing.
        let ada = Caller::authenticated("ada", ["sender"]).with_owner_id("ada");
        let senders = [None, Some("ada".to_owned())];
        let found = depot.select(Parcel::sender().one_of(&senders), ada).await;
        assert_eq!(found, [1, 2, 3]);
    }
}

#[tokio::test]
async fn a_list_has_no_missing_values() {
    for location in NoteBoard::locations() {
        let depot = Depot::open(location).await;
        let context = depot.context(Caller::Anyone);
        let grams = Parcel::grams;
        let other_than_first = Parcel::number().eq(&3).or(Parcel::number().eq(&2));
        let lists = (grams().collect(), grams().collect().only(other_than_first));
        let lists: (Vec<u32>, Vec<u32>) = context.rows::<Parcel>().aggregate(lists).await.unwrap();
        assert_eq!(lists, (vec![30, 50], vec![50]));
        let without = context.rows::<Parcel>().filter(grams().is_none());
        assert!(
            without
                .aggregate(grams().collect())
                .await
                .unwrap()
                .is_empty()
        );
        let ada = Caller::authenticated("ada", ["sender"]).with_owner_id("ada");
        let own = depot.context(ada).rows::<Parcel>();
        let own = own.aggregate(Parcel::sender().collect()).await.unwrap();
        assert_eq!(own, ["ada"]);
    }
}
