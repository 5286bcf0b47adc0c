//! PgBouncer stands before PostgreSQL.

use std::{
    net::TcpStream,
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use es_store::EventLog as _;
use es_store_postgres::PostgresStore;

use crate::{
    patroni_cluster::as_program_of_server,
    postgres_server::{PostgresServer, create_folder, free_port},
    requirement::require_program,
    store_fixture::{candidate, open, read_all},
};

/// A running PgBouncer, stopped when this is dropped.
struct PgBouncer {
    child: Child,
    folder: PathBuf,
    url: String,
}

impl PgBouncer {
    fn start(server: &PostgresServer, settings: &str) -> Self {
        let (folder, port) = (create_folder(), free_port());
        let (_, server_port) = server.host().rsplit_once(':').map_or_else(
            || panic!("{}", server.host()),
            |(host, port)| (host.to_owned(), port.to_owned()),
        );
        let configuration = format!(
            "[databases]\npostgres = host=127.0.0.1 port={server_port} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\n{settings}\n"
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, configuration).unwrap();
        let mut command = as_program_of_server("pgbouncer");
        command
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "it does not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Self { child, folder, url }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[track_caller]
fn start_server() -> Option<PostgresServer> {
    if !require_program("pgbouncer", "pgbouncer") {
        return None;
    }
    PostgresServer::start()
}

const IGNORED: &str = "ignore_startup_parameters = extra_float_digits,options";

#[tokio::test]
async fn a_pool_that_mixes_sessions_is_refused_with_its_remedy() {
    let Some(server) = start_server() else {
        return;
    };
    for ignored in ["", IGNORED] {
        let pool = PgBouncer::start(&server, &format!("pool_mode = transaction\n{ignored}"));
        // A pool hands the statements that the first start has prepared on to the next ones.
        for start in 1..4 {
            let refused = PostgresStore::open(pool.url.parse().unwrap()).await;
            assert_eq!(
                refused.unwrap_err().to_string(),
                "a connection pool such as PgBouncer mixes the sessions of its clients, and locks and \
                 notifications would get lost: connect to PostgreSQL itself, or let the pool work in \
                 session mode",
                "{ignored}, start {start}"
            );
        }
    }
    assert_eq!(server.query("SELECT to_regclass('es_head')").trim(), "");
}

#[tokio::test]
async fn a_pool_that_keeps_sessions_apart_serves() {
    let Some(server) = start_server() else {
        return;
    };
    let pool = PgBouncer::start(&server, &format!("pool_mode = session\n{IGNORED}"));
    let store = open(&pool.url).await;
    let events = vec![candidate("/a", 0)];
    store.append(events, vec![]).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 1);
}
