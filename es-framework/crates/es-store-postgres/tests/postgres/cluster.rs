//! A primary with two standbys, of which one has to confirm each commit.

use crate::postgres_server::PostgresServer;

pub(crate) struct Cluster {
    pub(crate) primary: PostgresServer,
    standbys: [PostgresServer; 2],
}

impl Cluster {
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let primary = PostgresServer::start()?;
        let standbys = [primary.start_standby(), primary.start_standby()];
        for server in standbys.iter().chain([&primary]) {
            server.set("synchronous_standby_names", "ANY 1 (*)");
        }
        Some(Self { primary, standbys })
    }

    /// The URL that names all servers.
    pub(crate) fn url(&self) -> String {
        let [first, second] = &self.standbys;
        let hosts = [&self.primary, first, second].map(PostgresServer::host);
        format!("postgres://postgres@{}/postgres", hosts.join(","))
    }

    /// Promotes the standby that has received more of the log, and makes the other one follow it.
    pub(crate) fn promote(&self) -> &PostgresServer {
        let received = |server: &PostgresServer| {
            let lsn = "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')";
            server.query(lsn).trim().parse::<u64>().unwrap()
        };
        let [first, second] = &self.standbys;
        let (promoted, other) = if received(first) >= received(second) {
            (first, second)
        } else {
            (second, first)
        };
        promoted.query("SELECT pg_promote()");
        other.follow(promoted);
        promoted
    }
}
