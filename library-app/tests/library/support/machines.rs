//! The parts of `ops/several-machines` as processes of this machine: the same programs, settings and files
//! with other addresses.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    process::Command,
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{
    Library, PATIENCE, Process, TOKEN,
    compose_file::ComposeFile,
    container_file::container_settings,
    eventually,
    postgres_server::{PostgresServer, StartScript},
    requirement::require_program,
};

const VARIABLES: [(&str, &str); 3] = [
    ("LIBRARY_PASSWORD", "password1"),
    ("REPLICATION_PASSWORD", "password2"),
    ("EVENT_STORE_API_TOKEN", TOKEN),
];

/// The running parts.
pub(crate) struct Machines {
    _balancer: Process,
    libraries: Vec<Library>,
    pub(crate) databases: Vec<PostgresServer>,
    scripts: Vec<StartScript>,
    parts: MachineParts,
}

/// The files of the parts, and the ports that stand for their machines.
struct MachineParts {
    compose: ComposeFile,
    folder: TempDir,
    databases: [u16; 3],
    libraries: [u16; 2],
    balancer: u16,
}

impl Machines {
    /// Creates the database and starts all parts. Returns `None` if a program is missing.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        if !require_program("nginx", "nginx") {
            return None;
        }
        let parts = MachineParts {
            compose: ComposeFile::read("several-machines/compose.yaml", &VARIABLES),
            folder: tempfile::tempdir().unwrap(),
            databases: [(); 3].map(|()| unused_port()),
            libraries: [(); 2].map(|()| unused_port()),
            balancer: unused_port(),
        };
        let scripts: Vec<_> = (0..3)
            .map(|number| parts.database_script(number))
            .collect::<Option<_>>()?;
        scripts[0].run(&["create".to_owned()]).unwrap();
        let mut databases = vec![parts.start_database(&scripts[0], 0)];
        // The standbys copy the primary at the same time.
        std::thread::scope(|scope| {
            let start = |number| parts.start_database(&scripts[number], number);
            let standbys = [1, 2].map(|number| scope.spawn(move || start(number)));
            databases.extend(standbys.map(|standby| standby.join().unwrap()));
        });
        Some(Self {
            databases,
            libraries: (0..2).map(|number| parts.start_library(number)).collect(),
            _balancer: parts.start_balancer(),
            scripts,
            parts,
        })
    }

    /// The URL of the load balancer.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.parts.balancer)
    }

    /// Starts a database server that ended again. Returns the reason for which it refuses to start.
    pub(crate) fn refusal_of_database(&self, number: usize) -> String {
        self.scripts[number].run(&[]).unwrap_err()
    }

    /// Stops an instance of the library in order and starts it again.
    pub(crate) async fn restart_library(&mut self, number: usize) {
        let stopped = self.libraries.remove(number).process;
        let status = tokio::task::block_in_place(|| stopped.stop());
        assert!(status.success(), "{status}");
        let library = tokio::task::block_in_place(|| self.parts.start_library(number));
        self.libraries.insert(number, library);
        self.await_health(number).await;
    }

    /// Waits until the health check of an instance succeeds.
    pub(crate) async fn await_health(&self, number: usize) {
        let MachineParts {
            compose, libraries, ..
        } = &self.parts;
        let service = compose.service(&format!("library-{}", number + 1));
        let check = compose.texts(&service["healthcheck"]["test"]);
        let own = "/127.0.0.1/8080";
        assert!(check[0] == "CMD" && check[3].contains(own), "{check:?}");
        let script = check[3].replace(own, &format!("/127.0.0.1/{}", libraries[number]));
        eventually("the health check succeeds", async || {
            let check = Command::new(&check[1]).arg(&check[2]).arg(&script).status();
            check.unwrap().success().then_some(())
        })
        .await;
    }
}

impl MachineParts {
    /// Returns the script of a database server whose disk is empty.
    #[track_caller]
    fn database_script(&self, number: usize) -> Option<StartScript> {
        let name = format!("db-{}", number + 1);
        let entrypoint = self.compose.service(&name)["entrypoint"].to_string();
        assert_eq!(entrypoint, r#"["sh","/start-database.sh"]"#);
        let variables = self.compose.environment(&name).into_iter();
        let variables = variables.filter(|(name, _)| name != "PGDATA");
        let variables: Vec<_> = variables
            .map(|(name, value)| (name, self.with_addresses(&value)))
            .collect();
        let script = fs::read_to_string(self.compose.folder.join("start-database.sh")).unwrap();
        // Without optimisation, a client needs a second for the hashes of this authentication.
        let script = script.replace("scram-sha-256", "password");
        StartScript::store(&script, self.databases[number], &variables)
    }

    fn start_database(&self, script: &StartScript, number: usize) -> PostgresServer {
        let service = self.compose.service(&format!("db-{}", number + 1));
        let arguments = self.compose.texts(&service["command"]);
        let addressed = arguments
            .iter()
            .map(|argument| self.with_addresses(argument));
        script.start(&addressed.collect::<Vec<_>>())
    }

    fn start_library(&self, number: usize) -> Library {
        let name = format!("library-{}", number + 1);
        let data = self.folder.path().join(&name);
        let settings = container_settings("library-app", &data).into_iter();
        let settings = settings.chain(self.compose.environment(&name));
        let settings: Vec<_> = settings
            .map(|(name, value)| (name, self.with_addresses(&value)))
            .collect();
        let of_store = settings.iter().find(|(name, _)| name == "EVENT_STORE_URL");
        let (_, store_url) = of_store.unwrap();
        let port = self.libraries[number].to_string();
        let pairs = settings.iter();
        let pairs = pairs.map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs: Vec<_> = pairs.chain([("HTTP_PORT", port.as_str())]).collect();
        Library::with_store_and(store_url, &pairs)
    }

    fn start_balancer(&self) -> Process {
        let mut text = fs::read_to_string(self.compose.folder.join("nginx.conf")).unwrap();
        for (address, port) in [
            ("listen 8080;", self.balancer),
            ("server library-1:8080 ", self.libraries[0]),
            ("server library-2:8080 ", self.libraries[1]),
        ] {
            assert!(text.contains(address), "{address}");
            let (directive, rest) = address.split_once(' ').unwrap();
            let end = &rest[rest.find("8080").unwrap() + 4..];
            text = text.replace(address, &format!("{directive} 127.0.0.1:{port}{end}"));
        }
        let folder = self.folder.path();
        fs::write(folder.join("nginx.conf"), text).unwrap();
        // One process, which ends with the test.
        let process = format!(
            "daemon off; master_process off; pid {}/nginx.pid;",
            folder.display()
        );
        let mut nginx = Command::new("nginx");
        nginx.arg("-c").arg(folder.join("nginx.conf"));
        let (balancer, []) = Process::start(nginx.args(["-g", &process]), []);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.balancer)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "{}", balancer.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        balancer
    }

    /// Replaces the names of machines by the addresses of their processes.
    fn with_addresses(&self, text: &str) -> String {
        const HOSTS: &str = "db-1,db-2,db-3";
        let ports = self.databases.map(|port| port.to_string()).join(",");
        let hosts = ["127.0.0.1"; 3].join(",");
        let in_url = self.databases.map(|port| format!("127.0.0.1:{port}"));
        text.replace(
            &format!("host={HOSTS} "),
            &format!("host={hosts} port={ports} "),
        )
        .replace(&format!("@{HOSTS}/"), &format!("@{}/", in_url.join(",")))
        .replace("listen_addresses=*", "listen_addresses=127.0.0.1")
    }
}

/// Returns a port for a process that starts again at the same one. The system gives ports of this range to no
/// outgoing connection.
pub(crate) fn unused_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = 20_000 + u16::try_from(std::process::id() % 1_000).unwrap() * 10;
    loop {
        let port = begin + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
