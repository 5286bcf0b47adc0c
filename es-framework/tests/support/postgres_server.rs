//! A PostgreSQL server for one test.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use super::requirement::{install, require};

/// A running server, stopped when this is dropped.
pub(crate) struct PostgresServer {
    child: Child,
    port: u16,
    folder: PathBuf,
    /// Kept for the servers that start while this one runs.
    _template: Option<Arc<ClusterTemplate>>,
}

/// A new database cluster, which the servers of a run copy, because to create one takes ten times as long. The
/// last of the servers removes it.
struct ClusterTemplate {
    folder: PathBuf,
}

impl ClusterTemplate {
    fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<ClusterTemplate>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let template = Arc::new(Self {
                folder: create_cluster(),
            });
            *shared = Arc::downgrade(&template);
            template
        })
    }
}

impl Drop for ClusterTemplate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl PostgresServer {
    /// Starts a server with a new database cluster. Returns `None` if PostgreSQL is missing.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let installed = program_path("initdb").ok_or_else(|| install("postgresql"));
        require("postgresql", installed)?;
        let (template, folder) = (ClusterTemplate::shared(), create_folder());
        let mut copy = as_server(Path::new("cp"));
        run(copy
            .args(["-R", "-p"])
            .args([template.folder.join("data"), folder.join("data")]));
        let mut server = Self::serve(folder);
        server._template = Some(template);
        Some(server)
    }

    /// Starts a server whose cluster has an identifier of its own. Those that [`Self::start`] copies share one.
    pub(crate) fn start_unrelated(&self) -> Self {
        Self::serve(create_cluster())
    }

    /// Creates a standby of this server. It does not confirm commits yet.
    pub(crate) fn start_standby(&self) -> Self {
        let folder = create_folder();
        let mut copy = as_server(&program("pg_basebackup"));
        copy.args([
            "-h",
            "127.0.0.1",
            "-U",
            "postgres",
            "-p",
            &self.port.to_string(),
        ]);
        copy.args([
            "--write-recovery-conf",
            "--no-sync",
            "--checkpoint=fast",
            "-D",
        ]);
        run(copy.arg(folder.join("data")));
        Self::serve(folder)
    }

    /// Changes a setting without a restart.
    pub(crate) fn set(&self, setting: &str, value: &str) {
        self.query(&format!("ALTER SYSTEM SET {setting} = '{value}'"));
        self.query("SELECT pg_reload_conf()");
    }

    /// Makes a standby follow another primary.
    pub(crate) fn follow(&self, primary: &Self) {
        let port = primary.port;
        self.set(
            "primary_conninfo",
            &format!("host=127.0.0.1 port={port} user=postgres"),
        );
    }

    /// Starts the server of a cluster.
    fn serve(folder: PathBuf) -> Self {
        let data = folder.join("data");
        let port = free_port();
        let mut serve = as_server(&program("postgres"));
        serve.arg("-D").arg(&data).arg("-k").arg(&folder);
        serve.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        // Several servers run at once, and a standby follows a new primary without a pause.
        serve.args([
            "-c",
            "shared_buffers=16MB",
            "-c",
            "wal_retrieve_retry_interval=200ms",
        ]);
        Self::spawn(serve, folder, port)
    }

    fn spawn(mut serve: Command, folder: PathBuf, port: u16) -> Self {
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        let child = serve.spawn().expect("PostgreSQL starts");
        let server = Self {
            child,
            port,
            folder,
            _template: None,
        };
        server.await_start();
        server
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The address of this server in a URL.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a signal to all processes of this server.
    pub(crate) fn signal(&self, signal: &str) {
        signal_server(&self.folder.join("data"), signal);
    }

    fn await_start(&self) {
        let begin = Instant::now();
        let ready = program("pg_isready");
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.is_ready(&ready) {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "it does not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn is_ready(&self, program: &Path) -> bool {
        let mut ask = Command::new(program);
        ask.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        ask.stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// The `DATABASE_URL` of this server.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Ends the connection that holds the lease, like a broken network.
    pub(crate) fn cut_off_the_writer(&self) {
        let statement =
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
        assert!(self.query(statement).contains('t'), "nobody has the lock");
    }

    /// Runs statements and returns their rows as text.
    pub(crate) fn query(&self, statements: &str) -> String {
        self.query_database("postgres", statements)
    }

    /// Writes a dump of all tables to a file in this folder.
    pub(crate) fn dump(&self, folder: &Path) -> PathBuf {
        let file = folder.join("tables.dump");
        run(self
            .client("pg_dump")
            .arg("--format=custom")
            .arg("--file")
            .arg(&file));
        file
    }

    /// Replaces the tables by those of a dump.
    pub(crate) fn restore(&self, dump: &Path) {
        let mut restore = self.client("pg_restore");
        run(restore.args(["--clean", "--if-exists"]).arg(dump));
    }

    fn client(&self, name: &str) -> Command {
        let mut client = Command::new(program(name));
        client.args(["-h", "127.0.0.1", "-U", "postgres", "-d", "postgres", "-p"]);
        client.arg(self.port.to_string());
        client
    }

    /// The same in another database.
    pub(crate) fn query_database(&self, database: &str, statements: &str) -> String {
        let mut psql = Command::new(program("psql"));
        // The superuser of a server that demands passwords has none.
        psql.arg("-h")
            .arg(&self.folder)
            .args(["-U", "postgres", "-p"]);
        run(psql.args([&self.port.to_string(), "-d", database, "-tc", statements]))
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.signal("-CONT");
        // `runuser` stops itself together with the server.
        let starter = self.child.id().to_string();
        send_signal("-CONT", [&*starter]);
        // SIGQUIT is a shutdown that writes nothing; a kill would leave the server's other processes for a while.
        if let Some(id) = main_process(&self.folder.join("data")) {
            send_signal("-QUIT", [&*id]);
        }
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Sends a signal to all processes of the server that uses a data folder.
pub(crate) fn signal_server(data: &Path, signal: &str) {
    let Some(main) = main_process(data) else {
        return;
    };
    let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children"));
    let children = children.unwrap_or_default();
    send_signal(
        signal,
        [&*main].into_iter().chain(children.split_whitespace()),
    );
}

/// Returns the main process of the server that uses a data folder.
pub(crate) fn main_process(data: &Path) -> Option<String> {
    let file = std::fs::read_to_string(data.join("postmaster.pid"));
    file.ok()?.lines().next().map(ToOwned::to_owned)
}

/// Sends a signal to processes. One of them may have ended meanwhile.
pub(crate) fn send_signal<'a>(signal: &str, processes: impl IntoIterator<Item = &'a str>) {
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill \"$@\"", "kill", signal])
        .args(processes);
    let _ = kill.stderr(Stdio::null()).status();
}

/// A script that starts a server, such as the entry point of a container, with a folder for its server.
pub(crate) struct StartScript {
    folder: PathBuf,
    port: u16,
    /// Assignments such as `SERVER=db-1`.
    variables: Vec<String>,
}

impl StartScript {
    /// Stores the script for a server that will listen on this port. Returns `None` if PostgreSQL is missing.
    #[track_caller]
    pub(crate) fn store(script: &str, port: u16, variables: &[(String, String)]) -> Option<Self> {
        let installed = program_path("initdb").ok_or_else(|| install("postgresql"));
        let programs = require("postgresql", installed)?;
        let folder = create_folder();
        // The server's user may lack the right to read the source tree.
        std::fs::write(folder.join("start"), script).unwrap();
        let variables = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = variables.chain([
            format!("PGDATA={}", folder.join("data").display()),
            format!("PATH={}:{path}", programs.parent().unwrap().display()),
        ]);
        let variables = variables.collect();
        Some(Self {
            folder,
            port,
            variables,
        })
    }

    fn command(&self) -> Command {
        let mut command = as_server(Path::new("env"));
        command
            .args(&self.variables)
            .arg("sh")
            .arg(self.folder.join("start"));
        command
    }

    /// Runs the script to its end. Returns what it prints, as an error if it fails.
    pub(crate) fn run(&self, arguments: &[String]) -> Result<String, String> {
        let output = self.command().args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(text)
        }
    }

    /// Starts the server with these arguments.
    pub(crate) fn start(&self, arguments: &[String]) -> PostgresServer {
        let mut serve = self.command();
        serve.args(arguments).arg("-k").arg(&self.folder);
        serve.args(["-p", &self.port.to_string(), "-c", "shared_buffers=16MB"]);
        PostgresServer::spawn(serve, self.folder.clone(), self.port)
    }
}

/// Creates a folder with a new database cluster.
fn create_cluster() -> PathBuf {
    let folder = create_folder();
    let mut create = as_server(&program("initdb"));
    create.args(["--auth=trust", "--username=postgres", "--encoding=UTF8"]);
    run(create
        .args(["--no-sync", "--pgdata"])
        .arg(folder.join("data")));
    folder
}

/// Creates a folder of the server's user.
pub(crate) fn create_folder() -> PathBuf {
    PathBuf::from(run(as_server(Path::new("mktemp")).arg("-d")).trim())
}

/// The server refuses to run as root; its package brings a user for it.
pub(crate) fn as_server(program: &Path) -> Command {
    let is_root = run(Command::new("id").arg("-u")).trim() == "0";
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command.current_dir("/");
    command
}

pub(crate) fn program(name: &str) -> PathBuf {
    program_path(name).unwrap_or_else(|| panic!("{name} is missing beside initdb"))
}

fn program_path(name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let packaged = versions.flatten().map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    packaged
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaints}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}
