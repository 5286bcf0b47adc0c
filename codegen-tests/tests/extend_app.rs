//! An application that is extended by code and called in process: custom routes, layers, settings,
//! a memory store, a test clock, and several applications in one process.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use es_framework::{
    App, Application, ApplicationClient, Settings,
    axum::{
        Router,
        http::{HeaderName, HeaderValue},
        middleware::map_response,
        response::Response,
        routing::{get, post},
    },
    prelude::*,
    store::memory::MemoryStore,
};
use serde_json::{Value as Json, json};
use tokio::{net::TcpListener, sync::oneshot};

/// Rents a boat.
#[derive(Command)]
#[command(subject = "/boats/{id}", condition = pristine)]
struct RentBoatCommand {
    id: Uuid,
    name: String,
}

/// A boat was rented.
#[derive(Event)]
#[event(read_model = "boats")]
struct BoatRentedEvent {
    name: String,
    rented_at: Timestamp,
}

#[handler]
fn rent(command: RentBoatCommand, clock: &Clock) -> BoatRentedEvent {
    BoatRentedEvent {
        name: command.name,
        rented_at: clock.now(),
    }
}

macro_rules! wide {
    ($($field:ident)*) => {
        /// Fills in a form of 200 fields.
        #[derive(Command)]
        #[command(subject = "/forms/{id}")]
        struct FillInFormCommand {
            id: Uuid,
            $($field: Option<String>,)*
        }

        /// A form was filled in.
        #[derive(Event)]
        #[event(from = FillInFormCommand, informational)]
        struct FormFilledInEvent {
            id: Uuid,
            $($field: Option<String>,)*
        }
    };
}

wide!(
    f000 f001 f002 f003 f004 f005 f006 f007 f008 f009 f010 f011 f012 f013 f014 f015 f016 f017 f018 f019
    f020 f021 f022 f023 f024 f025 f026 f027 f028 f029 f030 f031 f032 f033 f034 f035 f036 f037 f038 f039
    f040 f041 f042 f043 f044 f045 f046 f047 f048 f049 f050 f051 f052 f053 f054 f055 f056 f057 f058 f059
    f060 f061 f062 f063 f064 f065 f066 f067 f068 f069 f070 f071 f072 f073 f074 f075 f076 f077 f078 f079
    f080 f081 f082 f083 f084 f085 f086 f087 f088 f089 f090 f091 f092 f093 f094 f095 f096 f097 f098 f099
    f100 f101 f102 f103 f104 f105 f106 f107 f108 f109 f110 f111 f112 f113 f114 f115 f116 f117 f118 f119
    f120 f121 f122 f123 f124 f125 f126 f127 f128 f129 f130 f131 f132 f133 f134 f135 f136 f137 f138 f139
    f140 f141 f142 f143 f144 f145 f146 f147 f148 f149 f150 f151 f152 f153 f154 f155 f156 f157 f158 f159
    f160 f161 f162 f163 f164 f165 f166 f167 f168 f169 f170 f171 f172 f173 f174 f175 f176 f177 f178 f179
    f180 f181 f182 f183 f184 f185 f186 f187 f188 f189 f190 f191 f192 f193 f194 f195 f196 f197 f198 f199
);

#[handler]
fn fill_in(command: FillInFormCommand) -> FormFilledInEvent;

/// The harbour where boats are rented.
#[derive(Settings)]
struct Harbour {
    /// The number of boats in the harbour.
    #[setting(default = 12, env = "HARBOUR_BERTHS_OF_A_TEST")]
    berths: i64,
}

/// Shows the harbour.
#[derive(Query)]
#[query(path = "/harbour")]
struct ShowHarbour {}

#[query_handler]
async fn show_harbour(
    _: ShowHarbour,
    harbour: &Harbour,
    clock: &Clock,
    caller: &Caller,
) -> Result<(i64, Timestamp, bool), QueryError> {
    Ok((harbour.berths, clock.now(), *caller == Caller::Anyone))
}

const NOON: &str = "2026-07-01T12:00:00Z";

fn app() -> App {
    App::new("boats")
        .provide(Clock::at(NOON.parse().unwrap()))
        .event_store(Arc::new(MemoryStore::new()))
        .settings(Settings::default())
}

async fn rent_boat(client: &ApplicationClient, name: &str) -> String {
    let body = json!({ "id": Uuid::new_v4(), "name": name });
    let response = client.post("/boats/rent", &body).await.unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.header("event-position").unwrap().to_owned()
}

/// Returns the rows of the read model after the event at this position.
async fn boats(client: &ApplicationClient, position: &str) -> Json {
    let client = client
        .clone()
        .with_header(HeaderName::from_static("event-position"), position);
    let response = client.get("/boats").await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
    response.json::<Json>().unwrap()["items"].clone()
}

/// A file with the token `pieces-of-eight` of the caller `silver`.
fn tokens_file(folder: &Path) -> PathBuf {
    let hash = "55016870121cc1ef9dcd6bcefa838db5239af3f5299bfd041c4278bd153f8ea8";
    let file = folder.join("tokens");
    fs::write(&file, format!("silver - {hash}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    file
}

#[tokio::test]
async fn the_client_reads_what_it_wrote_at_the_time_of_the_test_clock() {
    let application = app().build().await.unwrap();
    let client = application.client();
    let position = rent_boat(&client, "Hispaniola").await;
    let rows = boats(&client, &position).await;
    assert_eq!(rows[0]["name"], "Hispaniola");
    // A row of an event has nine decimal places in its seconds.
    assert_eq!(rows[0]["rentedAt"], "2026-07-01T12:00:00.000000000Z");
    application.shutdown().await;
}

#[tokio::test]
async fn a_query_handler_takes_settings_the_clock_and_the_caller() {
    let application = app().build().await.unwrap();
    let response = application.client().get("/harbour").await.unwrap();
    let shown: Json = response.json().unwrap();
    assert_eq!(shown, json!([12, NOON, true]));
    application.shutdown().await;
}

#[tokio::test]
async fn a_custom_route_has_the_limits_and_the_headers_of_the_framework() {
    let echo = post(async |body: String| body);
    let application = app()
        .routes(Router::new().route("/echo", echo))
        .settings(Settings::default().http_headers_limit(1_000))
        .build()
        .await
        .unwrap();
    let client = application.client();
    let response = client.post("/echo", &"ahoy").await.unwrap();
    assert_eq!(
        (response.status, response.text().as_str()),
        (200, "\"ahoy\"")
    );
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    let long = client.with_header(HeaderName::from_static("x-long"), &"x".repeat(1_000));
    assert_eq!(long.post("/echo", &"ahoy").await.unwrap().status, 431);
}

#[tokio::test]
async fn a_custom_route_has_the_authentication_of_the_framework() {
    use es_framework::axum::Extension;

    let folder = tempfile::tempdir().unwrap();
    let file = tokens_file(folder.path());
    let greet = get(async |Extension(caller): Extension<Caller>| {
        caller.name().unwrap_or_default().to_owned()
    });
    let application = app()
        .routes(Router::new().route("/greeting", greet))
        .settings(Settings::default().auth_tokens_file(Some(file)))
        .build()
        .await
        .unwrap();
    let client = application.client();
    assert_eq!(client.get("/greeting").await.unwrap().status, 401);
    let silver = client.with_bearer("pieces-of-eight");
    let response = silver.get("/greeting").await.unwrap();
    assert_eq!((response.status, response.text().as_str()), (200, "silver"));
    let john = Caller::authenticated("john", ["cook"]);
    let assumed = application.client().with_caller(&john);
    assert_eq!(assumed.get("/greeting").await.unwrap().text(), "john");
}

#[tokio::test]
async fn a_custom_route_is_measured_under_its_path() {
    let label = get(async || "a label");
    let application = app()
        .routes(Router::new().route("/labels/{id}", label))
        .build()
        .await
        .unwrap();
    let client = application.client();
    assert_eq!(client.get("/labels/7").await.unwrap().text(), "a label");
    let metrics = client.get("/actuator/prometheus").await.unwrap().text();
    assert!(metrics.contains("route=\"/labels/{id}\""), "{metrics}");
    assert!(!metrics.contains("/labels/7"), "{metrics}");
}

#[tokio::test]
async fn a_layer_surrounds_declared_and_custom_routes() {
    let layer = map_response(async |mut response: Response| {
        let ahoy = HeaderValue::from_static("ahoy");
        response.headers_mut().insert("x-greeting", ahoy);
        response
    });
    let application = app()
        .routes(Router::new().route("/custom", get(async || "custom")))
        .layer(layer)
        .build()
        .await
        .unwrap();
    for path in ["/custom", "/boats", "/actuator/health/liveness", "/unknown"] {
        let response = application.client().get(path).await.unwrap();
        assert_eq!(response.header("x-greeting"), Some("ahoy"), "{path}");
    }
}

#[tokio::test]
async fn a_custom_route_with_a_declared_path_is_refused() {
    for (path, said) in [
        ("/boats/rent", "the command RentBoatCommand declares at"),
        ("/boats", "a query declares at"),
        ("/boats/{name}", "/boats/{key}, which a query declares at"),
        ("/actuator/health", "belongs to the framework"),
        ("/actuator/projections", "belongs to the framework"),
        ("/docs/main.js", "belongs to the framework"),
    ] {
        let routes = Router::new().route(path, get(async || "custom"));
        let error = app().routes(routes).build().await.unwrap_err().to_string();
        let start = format!("boats does not start: the custom route {path} collides with ");
        assert!(error.starts_with(&start) && error.contains(said), "{error}");
    }
}

#[tokio::test]
async fn a_custom_route_may_be_the_root_page() {
    let application = app()
        .routes(Router::new().route("/", get(async || "Welcome")))
        .build()
        .await
        .unwrap();
    let response = application.client().get("/").await.unwrap();
    assert_eq!(
        (response.status, response.text().as_str()),
        (200, "Welcome")
    );
}

/// Serves an application on a free port, and returns its address, the sender that stops it, and the
/// task that serves.
async fn serve(
    application: Application,
) -> (
    String,
    oneshot::Sender<()>,
    tokio::task::JoinHandle<es_framework::Result<()>>,
) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(application.serve_until(listener, async {
        let _ = stopped.await;
    }));
    (address, stop, serving)
}

/// Sends a request through a socket and returns the status line of the response.
async fn status_line(address: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        "GET /actuator/health/liveness HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn two_applications_run_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Settings::default()
        .event_store_port(0)
        .event_store_data_dir(folder.path().to_owned());
    let first = App::new("boats").settings(embedded).build().await.unwrap();
    let second = app().build().await.unwrap();
    let (first_client, second_client) = (first.client(), second.client());
    let position = rent_boat(&first_client, "Hispaniola").await;
    assert_eq!(
        boats(&first_client, &position).await[0]["name"],
        "Hispaniola"
    );
    let position = rent_boat(&second_client, "Walrus").await;
    let rows = boats(&second_client, &position).await;
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
    assert_eq!(rows[0]["name"], "Walrus");
    let (first_address, stop_first, first) = serve(first).await;
    let (second_address, stop_second, second) = serve(second).await;
    for address in [&first_address, &second_address] {
        assert_eq!(status_line(address).await, "HTTP/1.1 200 OK");
    }
    stop_first.send(()).unwrap();
    first.await.unwrap().unwrap();
    assert_eq!(status_line(&second_address).await, "HTTP/1.1 200 OK");
    stop_second.send(()).unwrap();
    second.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_open_application_does_not_serve_other_machines() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let application = app().build().await.unwrap();
    let error = application.serve(listener).await.unwrap_err().to_string();
    assert!(error.contains("anyone could call"), "{error}");
}

#[tokio::test]
async fn the_router_can_be_nested() {
    use es_framework::axum::{body::Body, http::Request};
    use tower::ServiceExt as _;

    let application = app().build().await.unwrap();
    let outer: Router = Router::new().nest("/harbour", application.router());
    let request = Request::get("/harbour/actuator/health/liveness");
    let response = outer.oneshot(request.body(Body::empty()).unwrap());
    assert_eq!(response.await.unwrap().status(), 200);
}

#[test]
fn a_command_of_200_fields_needs_no_large_stack() {
    let request = async || {
        let application = app().build().await.unwrap();
        let body = json!({ "id": Uuid::new_v4(), "f007": "a", "f199": "z" });
        let response = application.client().post("/forms/fill", &body).await;
        application.shutdown().await;
        response.unwrap().status
    };
    // Tokio's worker threads have stacks of this size.
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(request())
    };
    let status = thread.spawn(run).unwrap().join().unwrap();
    assert_eq!(status, 204);
}
