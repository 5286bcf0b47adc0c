//! Counts, sums, averages and extremes of rows, in each database.

use es_framework::{
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::PageParameters,
};

use super::filled_database::fill_database;
use super::note_board::NoteBoard;
use super::postgres_server::PostgresServer;

#[derive(Debug, Clone, Event)]
struct PaymentReceivedEvent {
    number: u32,
    account: String,
    cents: i64,
    rate: Option<f64>,
    due_at: Option<Timestamp>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "payments")]
struct Payment {
    #[key]
    number: u32,
    #[search(alphanumeric)]
    account: String,
    cents: i64,
    rate: Option<f64>,
    due_at: Option<Timestamp>,
}

#[projection]
impl Payment {
    #[key(number)]
    fn received(event: PaymentReceivedEvent) -> Self {
        Self {
            number: event.number,
            account: event.account,
            cents: event.cents,
            rate: event.rate,
            due_at: event.due_at,
        }
    }
}

/// The payments in one database.
struct Ledger {
    database: Database,
    _server: Option<PostgresServer>,
}

impl Ledger {
    async fn fill(server: Option<PostgresServer>, payments: &[PaymentReceivedEvent]) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Payment>()]).unwrap();
        let events = payments.iter().cloned();
        let database = fill_database(server.as_ref(), models, "/payments", events).await;
        let _server = server;
        Self { database, _server }
    }

    fn context(&self) -> QueryContext<'_> {
        QueryContext::new(&self.database, PageParameters::default(), Timestamp::now())
    }
}

fn payment(number: u32, account: &str, cents: i64) -> PaymentReceivedEvent {
    PaymentReceivedEvent {
        number,
        account: account.to_owned(),
        cents,
        rate: None,
        due_at: None,
    }
}

fn day(day: &str) -> Timestamp {
    format!("2026-01-{day}T00:00:00Z").parse().unwrap()
}

/// Three payments of one account, whose spellings differ, and one of another.
fn payments() -> [PaymentReceivedEvent; 4] {
    [
        payment(1, "a-1", 250),
        PaymentReceivedEvent {
            rate: Some(0.1),
            due_at: Some(day("03")),
            ..payment(2, "A1", -50)
        },
        PaymentReceivedEvent {
            rate: Some(0.25),
            due_at: Some(day("02")),
            ..payment(3, "a 1", 101)
        },
        payment(4, "b", 7),
    ]
}

#[tokio::test]
async fn each_group_has_its_sum_and_its_average() {
    for location in NoteBoard::locations() {
        let ledger = Ledger::fill(location, &payments()).await;
        let context = ledger.context();
        let accounts = || context.rows::<Payment>().group_by([Payment::account()]);
        let cents = Payment::cents;
        let sums = (
            cents().sum(),
            cents().average(),
            Payment::rate().sum(),
            Payment::rate().count(),
        );
        let sums = accounts().page(sums, context.paging()).await.unwrap();
        let sums: Vec<_> = sums
            .items
            .into_iter()
            .map(|one| (one.key, one.count, one.values))
            .collect();
        let first = (
            ["a-1".to_owned()],
            3,
            (Some(301), Some(301.0 / 3.0), Some(0.35), 2),
        );
        let second = (["b".to_owned()], 1, (Some(7), Some(7.0), None, 0));
        assert_eq!(sums, [first, second]);
    }
}

#[tokio::test]
async fn each_group_has_its_extremes_and_shows_its_oldest_row() {
    for location in NoteBoard::locations() {
        let ledger = Ledger::fill(location, &payments()).await;
        let context = ledger.context();
        let accounts = || context.rows::<Payment>().group_by([Payment::account()]);
        let cents = Payment::cents;
        let positive = cents().above(&0);
        let extremes = (
            cents().min(),
            cents().max(),
            Payment::due_at().min(),
            Payment::account().max(),
            cents().min().only(positive),
            Payment::number().collect(),
        );
        let extremes = accounts().page(extremes, context.paging()).await.unwrap();
        let extremes: Vec<_> = extremes
            .items
            .into_iter()
            .map(|one| (one.key, one.values))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        // The oldest row shows the account, although another row has the extremes.
        let first = (
            Some(-50),
            Some(250),
            Some(day("02")),
            text("a-1"),
            Some(101),
            vec![1, 2, 3],
        );
        let second = (Some(7), Some(7), None, text("b"), Some(7), vec![4]);
        assert_eq!(
            extremes,
            [(["a-1".to_owned()], first), (["b".to_owned()], second)]
        );
    }
}

#[tokio::test]
async fn a_sum_is_exact_or_an_error() {
    let (most, least) = (i64::MAX, i64::MIN);
    let cases = [
        // The first two overflow, and the whole sum does not.
        ("overflow", vec![most, most, least, -5], Some(most - 6)),
        ("most", vec![most, 0], Some(most)),
        ("least", vec![least, 1, -1], Some(least)),
        ("halves", vec![-1, -4_294_967_296, 4_294_967_295], Some(-2)),
        ("above", vec![most, 1], None),
        ("below", vec![least, -1], None),
    ];
    let cents = cases.iter();
    let cents = cents.flat_map(|(account, cents, _)| cents.iter().map(move |one| (account, *one)));
    let payments = (1..).zip(cents);
    let payments = payments.map(|(number, (account, cents))| payment(number, account, cents));
    let payments: Vec<_> = payments.collect();
    for location in NoteBoard::locations() {
        let ledger = Ledger::fill(location, &payments).await;
        for (account, _, expected) in &cases {
            let rows = ledger.context().rows::<Payment>();
            let rows = rows.filter(Payment::account().eq(&(*account).to_owned()));
            let sum = rows.aggregate(Payment::cents().sum()).await;
            let is_told = matches!(sum, Err(QueryError::SumTooLarge { column: "cents" }));
            assert_eq!(is_told, expected.is_none(), "{account}: {sum:?}");
            assert_eq!(sum.unwrap_or(None), *expected, "{account}");
        }
    }
}

#[tokio::test]
async fn a_sum_of_floats_beyond_their_range_is_told() {
    let most = f64::MAX;
    let cases = [
        ("above", [most, most, 1.0]),
        ("none", [1.0, 2.0, 3.0]),
        ("between", [most, most, -most]),
    ];
    let rates = cases.iter();
    let rates = rates.flat_map(|(account, rates)| rates.iter().map(move |rate| (account, *rate)));
    let payments = (1..)
        .zip(rates)
        .map(|(number, (account, rate))| PaymentReceivedEvent {
            rate: Some(rate),
            ..payment(number, account, 1)
        });
    let payments: Vec<_> = payments.collect();
    for location in NoteBoard::locations() {
        let ledger = Ledger::fill(location, &payments).await;
        for (account, _) in &cases {
            let context = ledger.context();
            let rows = || {
                let rows = context.rows::<Payment>();
                rows.filter(Payment::account().eq(&(*account).to_owned()))
            };
            let sum = rows().aggregate((Payment::cents().sum(), Payment::rate().sum()));
            let average = rows().aggregate(Payment::rate().average());
            let groups = rows().group_by([Payment::account()]);
            let groups = groups.page(Payment::rate().sum(), context.paging()).await;
            let results = [
                sum.await.map(|(_, sum)| sum),
                average.await,
                groups.map(|page| page.items[0].values),
            ];
            for result in results {
                let is_told = matches!(result, Err(QueryError::SumTooLarge { column: "rate" }));
                assert_eq!(is_told, *account != "none", "{account}: {result:?}");
            }
        }
    }
}

#[tokio::test]
async fn without_rows_only_the_count_has_a_value() {
    for location in NoteBoard::locations() {
        let ledger = Ledger::fill(location, &[payment(1, "a", 5)]).await;
        let rows = ledger.context().rows::<Payment>();
        let rows = rows.filter(Payment::number().above(&1));
        let cents = Payment::cents;
        let all = (
            cents().count(),
            cents().sum(),
            cents().average(),
            cents().min(),
            Payment::number().collect(),
        );
        let empty = (0, None, None, None, vec![]);
        assert_eq!(rows.aggregate(all).await.unwrap(), empty);
    }
}
