//! The application of these tests in this process, with a runtime of its own.

use std::{
    net::SocketAddr,
    panic,
    sync::{Arc, Mutex, Once, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use es_framework::{
    App, ApplicationClient, ClientResponse, Settings,
    event::{RecordedEvent, Subject},
    store::{EventLog as _, ReadOptions, memory::MemoryStore},
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};
use uuid::Uuid;

/// The token of operators.
pub(crate) const TOKEN: &str = "test-token-0123456789";

/// The name of the threads that serve requests.
const SERVICE_THREAD: &str = "service";

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A service that listens on a port of this machine until it is dropped.
pub(crate) struct RunningService {
    pub(crate) url: String,
    /// A client that calls the service without a connection.
    pub(crate) client: ApplicationClient,
    pub(crate) store: MemoryStore,
    _folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RunningService {
    /// Starts a service with the default settings and a store in memory.
    pub(crate) fn start() -> Self {
        Self::start_with(Settings::default())
    }

    /// The same with these settings.
    pub(crate) fn start_with(settings: Settings) -> Self {
        Self::start_on(MemoryStore::new(), settings)
    }

    /// Starts another instance on the same events.
    pub(crate) fn start_on(store: MemoryStore, settings: Settings) -> Self {
        let app = App::new("library-service").event_store(Arc::new(store.clone()));
        Self::serve(app, settings, store)
    }

    /// Starts a service whose event store is behind this URL.
    pub(crate) fn start_with_store_at(url: &str, settings: Settings) -> Self {
        let settings = settings.event_store_url(Some(url.to_owned().into()));
        Self::serve(App::new("library-service"), settings, MemoryStore::new())
    }

    fn serve(app: App, settings: Settings, store: MemoryStore) -> Self {
        record_panics();
        let scheme = if settings.http_tls_certificate.is_some() {
            "https"
        } else {
            "http"
        };
        // Connections that a test leaves open do not delay its end, unless the test is about them.
        let usual = Settings::default().shutdown_timeout;
        let shutdown_timeout = match settings.shutdown_timeout {
            timeout if timeout == usual => Duration::ZERO,
            timeout => timeout,
        };
        let folder = tempfile::tempdir().unwrap();
        let settings = settings
            .event_store_data_dir(folder.path().join("data"))
            .event_store_api_token(Some(TOKEN.parse().unwrap()))
            .shutdown_timeout(shutdown_timeout);
        let (started, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            runtime.worker_threads(2).thread_name(SERVICE_THREAD);
            runtime.enable_all().build().unwrap().block_on(async {
                let application = app.settings(settings).build().await.unwrap();
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                started.send((address, application.client())).unwrap();
                let stopped = async {
                    let _ = stopped.await;
                };
                application.serve_until(listener, stopped).await.unwrap();
            });
        });
        let (address, client): (SocketAddr, _) = address.recv().expect("the service starts");
        Self {
            url: format!("{scheme}://{address}"),
            client,
            store,
            _folder: folder,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) async fn purchase(&self, book: &Value) -> ClientResponse {
        self.client.post("/books/purchase", book).await.unwrap()
    }

    /// Returns all events of the store in memory.
    pub(crate) async fn stored_events(&self) -> Vec<RecordedEvent> {
        let stored = self.store.read(Subject::root(), ReadOptions::recursive());
        stored.map(Result::unwrap).collect().await
    }

    /// Asserts that the service carries out a purchase, is healthy, and did not panic.
    pub(crate) async fn assert_works(&self) {
        let bought = self.purchase(&book(Uuid::new_v4())).await;
        assert_eq!(bought.status, 201, "{}", bought.text());
        let health = self.client.get("/actuator/health").await.unwrap();
        assert_eq!(health.status, 200, "{}", health.text());
        assert_no_panics();
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Asserts that no request to any service of this process led to a panic.
pub(crate) fn assert_no_panics() {
    let panics = PANICS.lock().unwrap();
    assert!(panics.is_empty(), "{panics:?}");
}

fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if thread::current().name() == Some(SERVICE_THREAD) {
                PANICS.lock().unwrap().push(panic.to_string());
            }
            previous(panic);
        }));
    });
}

pub(crate) fn book(id: Uuid) -> Value {
    json!({
        "id": id,
        "isbn": "978-0-345-53943-1",
        "title": "The Lord of the Rings",
        "author": "J. R. R. Tolkien",
        "numPages": 1178,
    })
}
