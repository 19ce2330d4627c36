//! Databases for tests: SQLite in a folder, and PostgreSQL by a cluster of its own that ends with the test program.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::config::{Postgres, Quota};
use crate::store::Store;
use crate::store::session::Session;

/// Of bytes and open jobs, for tests that are about no other.
impl From<(u64, u64)> for Quota {
    fn from((bytes, jobs): (u64, u64)) -> Self {
        Self { bytes, jobs, keys: u64::MAX >> 1, seconds: 1e300 }
    }
}

/// Does a test on each kind of database; on SQLite alone, with a sentence, where no PostgreSQL is installed.
pub(crate) fn each(test: impl Fn(Store)) {
    let dir = tempfile::tempdir().unwrap();
    test(Store::sqlite(dir.path()).unwrap());
    match database() {
        Some(settings) => test(Store::postgres(&settings).unwrap()),
        None => eprintln!("PostgreSQL is not installed: this test ran on SQLite alone"),
    }
}

/// A new database of PostgreSQL, where it is installed.
pub(crate) fn database() -> Option<Postgres> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let cluster = CLUSTER.get_or_init(Cluster::start).as_ref()?;
    let name = format!("test{}", COUNT.fetch_add(1, Ordering::SeqCst));
    let mut session = Session::open(&cluster.settings("postgres")).unwrap().unwrap();
    session.batch(&format!("CREATE DATABASE {name}")).unwrap();
    Some(cluster.settings(&name))
}

/// Ends the server when the pipe to it closes, which is when this program ends, however it does; leaves no file.
const KEEPER: &str = r#"
trap '' INT TERM HUP
"$@" & server=$!
cat > /dev/null
kill -INT $server
wait $server
rm -rf "$FOLDER"
"#;

/// Who runs the server where tests run as root.
const POSTGRES: &str = "postgres";

struct Cluster {
    folder: PathBuf,
    user: String,
    _keeper: Child,
}

impl Cluster {
    fn start() -> Option<Self> {
        let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let bin =
            installed.map(|version| version.path().join("bin")).filter(|bin| bin.join("postgres").is_file());
        let bin = bin.max()?;
        let folder = tempfile::Builder::new().prefix("rm-pg").tempdir().unwrap().keep();
        let mut user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let mut prefix = Vec::new();
        if user.trim() == "root" {
            // The server refuses to run as root.
            user = POSTGRES.into();
            let id = |kind| Command::new("id").args([kind, POSTGRES]).output().unwrap().stdout;
            let id = |kind| String::from_utf8(id(kind)).unwrap().trim().parse::<u32>().unwrap();
            chown(&folder, Some(id("-u")), Some(id("-g"))).unwrap();
            prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
                .map(str::to_owned)
                .into();
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        let user = user.trim().to_owned();
        let data = folder.join("data");
        let command = |program: &str, arguments: &[&str]| {
            let own = [bin.join(program).display().to_string(), "-D".into(), data.display().to_string()];
            let words: Vec<String> =
                prefix.iter().cloned().chain(own).chain(arguments.iter().map(|&a| a.to_owned())).collect();
            words
        };
        let init = command("initdb", &["--no-sync", "-A", "trust", "-U", &user, "-E", "UTF8", "--locale=C"]);
        let made = Command::new(&init[0]).args(&init[1..]).current_dir("/").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let socket = format!("unix_socket_directories={}", folder.display());
        let server = command("postgres", &["-c", "listen_addresses=", "-c", &socket, "-c", "fsync=off"]);
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .args(server)
            .env("FOLDER", &folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cluster = Self { folder, user, _keeper: keeper };
        let until = Instant::now() + Duration::from_secs(30);
        while Session::open(&cluster.settings("postgres")).unwrap().is_err() {
            assert!(Instant::now() < until, "the server did not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(cluster)
    }

    fn settings(&self, name: &str) -> Postgres {
        let url = format!("postgres://{}@/{name}?host={}", self.user, self.folder.display());
        Postgres { url, password_file: None, encryption: None, authorities: None }
    }
}
