//! UmaDB, through its own client. A tag stands for the subject.

use std::sync::Arc;

use umadb_client::{AsyncUmaDbClient, UmaDbClient};
use umadb_dcb::{DcbAppendCondition, DcbEvent, DcbEventStoreAsync as _, DcbQuery, DcbQueryItem};
use umadb_server::{ServerOptions, StorageOptions, start_server_with_options};

use super::{Purchase, Store};

#[derive(Clone)]
pub struct UmaDb {
    client: Arc<AsyncUmaDbClient>,
    port: u16,
}

/// Serves until the process ends.
pub async fn serve(folder: &str, address: &str) {
    let options = ServerOptions {
        listen_addr: address.to_owned(),
        tls: None,
        api_key: None,
        storage: StorageOptions::default().db_path(folder),
    };
    let (_never, stop) = tokio::sync::oneshot::channel();
    start_server_with_options(options, stop).await.unwrap();
}

impl UmaDb {
    pub async fn connect(port: u16) -> Self {
        let client = UmaDbClient::new(format!("http://127.0.0.1:{port}"));
        let client = Arc::new(client.connect_async().await.unwrap());
        Self { client, port }
    }

    async fn write(&self, subject: &str, condition: Option<DcbAppendCondition>) {
        let data = serde_json::to_vec(&Purchase::example()).unwrap();
        let event = DcbEvent::new()
            .event_type(Purchase::TYPE)
            .tags([subject])
            .data(data);
        self.client
            .append(vec![event], condition, None)
            .await
            .unwrap();
    }
}

fn events_of(subject: &str) -> DcbQuery {
    DcbQuery::new().item(DcbQueryItem::new().tags([subject]))
}

impl Store for UmaDb {
    async fn connect(&self) -> Self {
        Self::connect(self.port).await
    }

    async fn append(&self, subject: &str, _: usize) {
        self.write(subject, None).await;
    }

    async fn append_first(&self, subject: &str) {
        self.write(subject, Some(DcbAppendCondition::new(events_of(subject))))
            .await;
    }

    async fn read(&self, subject: &str) -> usize {
        let read = self
            .client
            .read_with_head(Some(events_of(subject)), None, false, None);
        let (events, _) = read.await.unwrap();
        let purchases = events
            .iter()
            .map(|event| serde_json::from_slice::<Purchase>(&event.event.data));
        purchases.map(Result::unwrap).count()
    }
}
