//! Servers in processes of their own, each on a free port of this machine.

use std::{
    cell::Cell,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

/// A server that the drop of this kills.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts the stand-alone event store, whose events are in the folder or in a database.
    pub fn event_store(program: &Path, folder: &Path, database: Option<&str>) -> Self {
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["run", "--api-token", "secret", "--http-port"]);
        command.arg(port.to_string());
        match database {
            Some(database) => command.args(["--engine", database]),
            None => command.arg("--data-directory").arg(folder),
        };
        Self::spawn(command, port)
    }

    /// Starts a server of UmaDB, which is this program, too.
    pub fn umadb(folder: &Path) -> Self {
        let port = free_port();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("serve-umadb").arg(folder);
        command.arg(format!("127.0.0.1:{port}"));
        Self::spawn(command, port)
    }

    fn spawn(mut command: Command, port: u16) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("the server starts");
        wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One PostgreSQL with its default settings for all that use it, each with a database of its own.
pub struct PostgresServer {
    server: Server,
    folder: PathBuf,
    databases: Cell<u32>,
}

impl PostgresServer {
    pub fn start() -> Self {
        let folder = run(as_postgres(Path::new("mktemp")).arg("-d"));
        let folder = PathBuf::from(folder.trim());
        let (data, port) = (folder.join("data"), free_port());
        let mut create = as_postgres(&program("initdb"));
        run(create
            .args(["--auth=trust", "--username=postgres", "-D"])
            .arg(&data));
        let mut serve = as_postgres(&program("postgres"));
        serve.args(["-c", "listen_addresses=127.0.0.1", "-p"]);
        serve
            .arg(port.to_string())
            .arg("-k")
            .arg(&folder)
            .arg("-D")
            .arg(&data);
        let server = Server::spawn(serve, port);
        let started = Self {
            server,
            folder,
            databases: Cell::new(0),
        };
        wait_until(|| started.psql("SELECT 1").status.success());
        started
    }

    /// Creates a database. Returns its URL.
    pub fn create_database(&self) -> String {
        let number = self.databases.get() + 1;
        self.databases.set(number);
        let output = self.psql(&format!("CREATE DATABASE comparison_{number}"));
        assert!(output.status.success(), "{output:?}");
        format!(
            "postgres://postgres@127.0.0.1:{}/comparison_{number}",
            self.server.port
        )
    }

    /// Returns the version as a number such as 150006.
    pub fn version(&self) -> u32 {
        let output = self.psql("SHOW server_version_num");
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .expect("a version")
    }

    fn psql(&self, statement: &str) -> Output {
        let mut psql = Command::new(program("psql"));
        psql.args(["-h", "127.0.0.1", "-U", "postgres", "-p"]);
        psql.arg(self.server.port.to_string())
            .args(["-tc", statement]);
        psql.output().unwrap()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // SIGQUIT ends all processes of the server, which may be the child of another program.
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let process = file.lines().next().unwrap_or_default();
        run(Command::new("kill").args(["-QUIT", process]));
        let _ = self.server.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// PostgreSQL refuses to run as root; its package brings a user for it.
fn as_postgres(program: &Path) -> Command {
    if run(Command::new("id").arg("-u")).trim() != "0" {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command
        .args(["-u", "postgres", "--"])
        .arg(program)
        .current_dir("/");
    command
}

/// Finds a program of PostgreSQL in the folders of Debian's packages or in the path.
fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut files = versions
        .flatten()
        .map(|version| version.path().join("bin").join(name));
    files
        .find(|file| file.is_file())
        .unwrap_or_else(|| name.into())
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn wait_until(mut is_ready: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_ready() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "a server does not start"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
