//! The walk-through of the library with the client of `progenitor`.

use std::{collections::HashSet, error::Error as StdError, fmt::Debug, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _};
use library_client::{ByteStream, Client, ClientInfo as _, Error, ResponseValue, types};
use uuid::Uuid;

const PREFIX: &str = "tag:es-framework,2026:problem:";
const AUTHOR: &str = "Stanisław Lem";
const LIMIT: Duration = Duration::from_secs(300);

type Result<T = ()> = std::result::Result<T, Box<dyn StdError>>;

#[tokio::main]
async fn main() -> Result {
    let url = std::env::args().nth(1).ok_or("usage: walkthrough URL")?;
    let walkthrough = Walkthrough {
        client: Client::new(&url),
        position: String::new(),
    };
    tokio::time::timeout(LIMIT, walkthrough.run()).await?
}

struct Walkthrough {
    client: Client,
    /// The event that later queries must contain.
    position: String,
}

impl Walkthrough {
    async fn run(mut self) -> Result {
        let solaris = self.purchase("978-0-15-602760-1", "Solaris").await?;
        let second = self.purchase("978-0-15-602760-1", "Solaris").await?;
        let fiasco = self.purchase("978-0-15-630630-0", "Fiasco").await?;
        let ada = Uuid::new_v4();
        let reader = types::RegisterReaderCommand::builder().id(ada).name("Ada");
        self.client
            .register_reader_command()
            .body(reader)
            .send()
            .await?;

        self.borrow_once_and_meet_the_conflict(solaris, ada).await?;
        self.refuse_invalid_values().await?;
        self.read_all_pages(&[solaris, second, fiasco]).await?;
        self.browse_the_catalog(second).await?;
        self.return_while_a_live_query_is_open(solaris).await?;

        let health = self.client.health().send().await?;
        expect(&types::HealthStatus::Up, &health.status);
        let info = self.client.info().send().await?;
        expect("es-framework", info.framework.name.as_str());
        Ok(())
    }

    async fn purchase(&mut self, isbn: &str, title: &str) -> Result<Uuid> {
        let id = Uuid::new_v4();
        let purchase = types::PurchaseBookCommand::builder()
            .id(id)
            .isbn(isbn)
            .title(title)
            .author(AUTHOR)
            .num_pages(204);
        let key = Uuid::new_v4().to_string();
        let send = || {
            let command = self.client.purchase_book_command();
            command
                .idempotency_key(key.as_str())
                .body(purchase.clone())
                .send()
        };
        let first = position_of(&send().await?);
        // The same command again is carried out once.
        expect(&first, &position_of(&send().await?));
        self.position = first;
        Ok(id)
    }

    async fn borrow_once_and_meet_the_conflict(&mut self, copy: Uuid, reader: Uuid) -> Result {
        let borrow = types::BorrowBookCommand::builder().id(copy).reader(reader);
        let command = || {
            self.client
                .borrow_book_command()
                .body(borrow.clone())
                .send()
        };
        let loan = command().await?;
        assert!(
            loan.due_at > chrono::Utc::now(),
            "the loan is due in the future"
        );
        let conflict = refused(409, command().await).await?;
        expect(&format!("{PREFIX}copy-lent"), &conflict.type_);
        expect(&409, &conflict.status);
        self.position = position_of(&loan);

        let position = self.position.as_str();
        let lent = self
            .client
            .find_copy()
            .id(copy)
            .event_position(position)
            .send()
            .await?;
        expect(&types::CopyStatus::Lent, &lent.status);
        expect(&Some(reader), &lent.reader);
        let held = self
            .client
            .loans_of_reader()
            .reader(reader)
            .event_position(position);
        let held = held.send().await?.into_inner();
        expect(&vec![copy], &held.iter().map(|one| one.book).collect());
        refused(404, self.client.find_copy().id(Uuid::new_v4()).send().await).await?;
        Ok(())
    }

    async fn refuse_invalid_values(&mut self) -> Result {
        let eden = types::PurchaseBookCommand::builder()
            .id(Uuid::new_v4())
            .isbn("978-0-15-602760-1")
            .author(AUTHOR)
            .num_pages(1);
        // The client knows the rules of the document and sends nothing.
        let nameless = self
            .client
            .purchase_book_command()
            .body(eden.clone().title(""));
        let unsent = nameless.send().await;
        assert!(
            matches!(unsent, Err(Error::InvalidRequest(_))),
            "{unsent:?}"
        );
        // The client does not know the largest number.
        let endless = eden.clone().title("Eden").num_pages(u64::MAX);
        let invalid = self
            .client
            .purchase_book_command()
            .body(endless)
            .send()
            .await;
        let invalid = refused(422, invalid).await?;
        expect(&format!("{PREFIX}invalid-values"), &invalid.type_);
        expect("/numPages", invalid.errors[0].pointer.as_str());

        let key = Uuid::new_v4().to_string();
        let send = |title: &str| {
            let command = self
                .client
                .purchase_book_command()
                .idempotency_key(key.as_str());
            command.body(eden.clone().title(title)).send()
        };
        let purchased = send("Eden").await?;
        let reused = refused(422, send("Return from the Stars").await).await?;
        expect(&format!("{PREFIX}idempotency-key-reused"), &reused.type_);
        self.position = position_of(&purchased);
        Ok(())
    }

    async fn read_all_pages(&self, purchased: &[Uuid]) -> Result {
        let (mut found, mut sizes) = (HashSet::new(), Vec::new());
        let mut cursor: Option<String> = None;
        loop {
            let query = self.client.browse_stock().author(AUTHOR).limit(3_u32);
            let mut query = query.total(true).event_position(self.position.as_str());
            if let Some(cursor) = cursor {
                query = query.cursor(cursor);
            }
            let page = query.send().await?.into_inner();
            expect(&Some(4), &page.total);
            sizes.push(page.items.len());
            found.extend(page.items.iter().map(|copy| copy.id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        expect(&vec![3, 1], &sizes);
        assert!(
            purchased.iter().all(|id| found.contains(id)),
            "the pages contain each copy"
        );
        Ok(())
    }

    async fn browse_the_catalog(&self, available: Uuid) -> Result {
        let query = self.client.browse_catalog().title("Solaris").author(AUTHOR);
        let page = query.event_position(self.position.as_str()).send().await?;
        expect(&1, &page.items.len());
        expect(&2, &page.items[0].total);
        expect(&vec![available], &page.items[0].available);
        Ok(())
    }

    /// A generated call returns one result, so the stream is read with `reqwest`.
    async fn return_while_a_live_query_is_open(&self, copy: Uuid) -> Result {
        let request = self
            .client
            .client()
            .get(format!("{}/books/{copy}", self.client.baseurl()));
        let request = request.header("accept", "text/event-stream");
        let response = request
            .header("event-position", &self.position)
            .send()
            .await?;
        let mut results = Results {
            chunks: response.error_for_status()?.bytes_stream().boxed(),
            received: Vec::new(),
        };
        expect(&types::CopyStatus::Lent, &results.next().await?.status);
        let give_back = types::ReturnBookCommand::builder().id(copy);
        let receipt = self
            .client
            .return_book_command()
            .body(give_back)
            .send()
            .await?;
        expect(&0, &receipt.late_fee_cents);
        expect(&types::CopyStatus::Available, &results.next().await?.status);
        Ok(())
    }
}

/// The results of a live query of one copy.
struct Results<S> {
    chunks: S,
    received: Vec<u8>,
}

impl<S, B: AsRef<[u8]>, E: StdError + 'static> Results<S>
where
    S: futures_util::Stream<Item = std::result::Result<B, E>> + Unpin,
{
    async fn next(&mut self) -> Result<types::BookCopy> {
        loop {
            while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = self.received.drain(..=end).collect();
                if let Some(data) = line.strip_prefix(b"data:") {
                    return Ok(serde_json::from_slice(data)?);
                }
            }
            let chunk = self
                .chunks
                .next()
                .await
                .ok_or("the stream ended before the next result")??;
            self.received.extend_from_slice(chunk.as_ref());
        }
    }
}

fn position_of<T>(response: &ResponseValue<T>) -> String {
    response.headers()["event-position"]
        .to_str()
        .unwrap()
        .to_owned()
}

/// Returns the problem of a refused request.
async fn refused<T: Debug>(
    status: u16,
    result: std::result::Result<ResponseValue<T>, Error<ByteStream>>,
) -> Result<types::Problem> {
    let response = match result {
        Err(Error::ErrorResponse(response)) => response,
        other => return Err(format!("{status} is expected, and it is {other:?}").into()),
    };
    expect(&status, &response.status().as_u16());
    let chunks: Vec<_> = response.into_inner().into_inner().try_collect().await?;
    Ok(serde_json::from_slice(&chunks.concat())?)
}

fn expect<T: PartialEq + Debug + ?Sized>(expected: &T, actual: &T) {
    assert_eq!(expected, actual);
}
