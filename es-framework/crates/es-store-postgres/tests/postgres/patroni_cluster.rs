//! Three PostgreSQL servers that Patroni keeps, with etcd. The servers use the configuration that the how-to
//! recommends.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    connection_proxy::ConnectionProxy,
    postgres_server::{
        create_folder, free_port, main_process, program, run, send_signal, signal_server,
    },
    requirement::require_program,
};

const CONFIGURATION: &str = include_str!("../../../../../library-app/ops/patroni/patroni.yml");

/// The servers, stopped when this is dropped.
pub(crate) struct PatroniCluster {
    folder: PathBuf,
    etcd: Child,
    nodes: Vec<PatroniNode>,
}

/// One machine: Patroni, its PostgreSQL, and its connection to etcd.
pub(crate) struct PatroniNode {
    pub(crate) number: usize,
    folder: PathBuf,
    port: u16,
    api_port: u16,
    etcd: ConnectionProxy,
    patroni: Option<Child>,
}

impl PatroniCluster {
    /// Starts all servers. Returns `None` if one of the programs is missing.
    #[track_caller]
    pub(crate) fn create() -> Option<impl Future<Output = Self>> {
        let programs = [
            ("patroni", "patroni"),
            ("etcd", "etcd-server"),
            ("setpriv", "util-linux"),
        ];
        let found = programs.map(|(program, package)| require_program(program, package));
        found.iter().all(|found| *found).then(Self::start)
    }

    async fn start() -> Self {
        let folder = create_folder();
        let (clients, peers) = (free_port(), free_port());
        let etcd_address = format!("127.0.0.1:{clients}");
        let mut etcd = as_program_of_server("etcd");
        etcd.arg("--data-dir").arg(folder.join("etcd"));
        for name in ["--listen-client-urls", "--advertise-client-urls"] {
            etcd.args([name, &format!("http://{etcd_address}")]);
        }
        etcd.args(["--listen-peer-urls", &format!("http://127.0.0.1:{peers}")]);
        let etcd = etcd.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let etcd = etcd.unwrap();
        await_etcd(clients);
        // The server's user may lack the right to read the source tree.
        std::fs::write(folder.join("patroni.yml"), CONFIGURATION).unwrap();
        let mut nodes = Vec::new();
        for number in 0..3 {
            let mut node = PatroniNode {
                number,
                folder: folder.clone(),
                port: free_port(),
                api_port: free_port(),
                etcd: ConnectionProxy::start(etcd_address.clone()).await,
                patroni: None,
            };
            node.start();
            nodes.push(node);
        }
        Self {
            folder,
            etcd,
            nodes,
        }
    }

    /// The URL that names all servers.
    pub(crate) fn url(&self) -> String {
        let hosts = self
            .nodes
            .iter()
            .map(|node| format!("127.0.0.1:{}", node.port));
        let hosts: Vec<_> = hosts.collect();
        format!("postgres://postgres:secret@{}/postgres", hosts.join(","))
    }

    /// Waits for a primary with a synchronous standby and another standby, and returns the primary.
    pub(crate) async fn await_primary(&mut self) -> &mut PatroniNode {
        let begin = Instant::now();
        loop {
            let primary = self.nodes.iter().position(|node| node.is("primary"));
            let is_ready = self.nodes.iter().any(|node| node.is("synchronous"))
                && self.nodes.iter().any(|node| node.is("asynchronous"));
            if let (Some(primary), true) = (primary, is_ready) {
                return &mut self.nodes[primary];
            }
            let has_time = begin.elapsed() < Duration::from_secs(120);
            assert!(has_time, "the servers do not start: {}", self.logs());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl PatroniCluster {
    pub(crate) fn node(&mut self, number: usize) -> &mut PatroniNode {
        &mut self.nodes[number]
    }

    /// Waits until another node is the primary.
    pub(crate) async fn await_primary_other_than(&self, lost: usize) {
        let begin = Instant::now();
        let others = self.nodes.iter().filter(|node| node.number != lost);
        while !others.clone().any(|node| node.is("primary")) {
            let has_time = begin.elapsed() < Duration::from_secs(120);
            assert!(has_time, "nobody is promoted: {}", self.logs());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The last lines of what Patroni and PostgreSQL have printed.
    fn logs(&self) -> String {
        let logs = self.nodes.iter().map(|node| {
            let log = std::fs::read_to_string(node.log_file()).unwrap_or_default();
            let lines: Vec<_> = log.lines().rev().take(20).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join("\n")
        });
        logs.collect::<Vec<_>>().join("\n\n")
    }
}

impl PatroniNode {
    /// Starts Patroni, which starts PostgreSQL.
    pub(crate) fn start(&mut self) {
        let (name, etcd) = (self.name(), self.etcd.port);
        let programs = program("postgres");
        let settings = [
            ("NAME", name.clone()),
            ("ETCD3_HOSTS", format!("127.0.0.1:{etcd}")),
            // Patroni stays at this address instead of asking etcd for others.
            ("ETCD3_USE_PROXIES", "true".to_owned()),
            ("RESTAPI_LISTEN", format!("127.0.0.1:{}", self.api_port)),
            (
                "RESTAPI_CONNECT_ADDRESS",
                format!("127.0.0.1:{}", self.api_port),
            ),
            ("POSTGRESQL_LISTEN", format!("127.0.0.1:{}", self.port)),
            (
                "POSTGRESQL_CONNECT_ADDRESS",
                format!("127.0.0.1:{}", self.port),
            ),
            ("POSTGRESQL_DATA_DIR", path_text(&self.data())),
            (
                "POSTGRESQL_BIN_DIR",
                path_text(programs.parent().unwrap_or(Path::new("/"))),
            ),
            (
                "POSTGRESQL_PGPASS",
                path_text(&self.folder.join(format!("{name}.pgpass"))),
            ),
            ("SUPERUSER_USERNAME", "postgres".to_owned()),
            ("SUPERUSER_PASSWORD", "secret".to_owned()),
            ("REPLICATION_USERNAME", "replicator".to_owned()),
            ("REPLICATION_PASSWORD", "secret".to_owned()),
        ];
        let mut patroni = as_program_of_server("patroni");
        for (setting, value) in settings {
            patroni.env(format!("PATRONI_{setting}"), value);
        }
        let log = std::fs::File::create(self.log_file()).unwrap();
        patroni.stdout(log.try_clone().unwrap()).stderr(log);
        let patroni = patroni.arg(self.folder.join("patroni.yml")).spawn();
        self.patroni = Some(patroni.unwrap());
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name()))
    }

    fn name(&self) -> String {
        format!("node-{}", self.number)
    }

    fn data(&self) -> PathBuf {
        self.folder.join(self.name())
    }

    /// Returns true if the node has a role, by the word of its Patroni.
    fn is(&self, role: &str) -> bool {
        let answer = ask(self.api_port, &format!("/{role}")).unwrap_or_default();
        answer
            .lines()
            .next()
            .is_some_and(|line| line.contains(" 200 "))
    }

    /// Sends a signal to Patroni and to all processes of PostgreSQL, as if the machine were lost or hung.
    pub(crate) fn signal(&mut self, signal: &str) {
        if let Some(patroni) = &self.patroni {
            send_signal(signal, [&*patroni.id().to_string()]);
        }
        signal_server(&self.data(), signal);
        if signal == "-KILL"
            && let Some(mut patroni) = self.patroni.take()
        {
            let _ = patroni.wait();
        }
    }

    /// Cuts the machine off from etcd, but neither from its standbys nor from the instances.
    pub(crate) fn cut_off_from_etcd(&self) {
        self.etcd.close();
    }

    pub(crate) fn reconnect_to_etcd(&self) {
        self.etcd.reopen();
    }
}

impl Drop for PatroniCluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let main = main_process(&node.data());
            node.signal("-KILL");
            // A process of PostgreSQL that the list of children has missed ends with its main process.
            let exists = |id: &str| Path::new("/proc").join(id).exists();
            let begin = Instant::now();
            while main.as_deref().is_some_and(exists) && begin.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let _ = self.etcd.kill();
        let _ = self.etcd.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits until etcd has agreed on its version. Patroni ends if it asks earlier.
fn await_etcd(port: u16) {
    let begin = Instant::now();
    let is_ready =
        |answer: String| answer.contains("etcdcluster") && !answer.contains("not_decided");
    while !ask(port, "/version").is_ok_and(is_ready) {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "etcd does not start"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Sends a request and returns the whole response.
fn ask(port: u16, path: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(("127.0.0.1", port))?;
    connection.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(connection, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// A program that runs as the server's user. Unlike `runuser`, `setpriv` becomes the program, so that signals
/// reach it.
pub(crate) fn as_program_of_server(program: &str) -> Command {
    if run(Command::new("id").arg("-u")).trim() != "0" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = ["--reuid=postgres", "--regid=postgres", "--init-groups"];
    command.args(user).arg(program).current_dir("/");
    command
}
