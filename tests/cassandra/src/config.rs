//! The files a node is configured by.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::home::Manifest;
use crate::settings::{Ports, address};

const YAML: &str = include_str!("../templates/cassandra.yaml");
const YAML_4_0: &str = include_str!("../templates/cassandra-4.0.yaml");
const YAML_AUTH: &str = include_str!("../templates/auth.yaml");
const YAML_NO_AUTH: &str = include_str!("../templates/no-auth.yaml");
const YAML_TLS: &str = include_str!("../templates/tls.yaml");
const JAVA_17: &str = include_str!("../templates/jvm17.args");

/// What a node logs, and where to.
pub(crate) const LOGBACK: &str = include_str!("../templates/logback.xml");

/// The `cassandra.yaml` of a node.
pub(crate) fn yaml(manifest: &Manifest, ports: Ports, node: u8) -> String {
    let settings = &manifest.settings;
    let seeds: Vec<_> =
        (1..=settings.nodes).map(|node| format!("{}:{}", address(node), ports.storage)).collect();
    let template = if settings.version.at_least(4, 1) { YAML } else { YAML_4_0 };
    let mut yaml = String::new();
    for line in template.lines() {
        match line.strip_suffix(" #5") {
            Some(_) if !settings.version.at_least(5, 0) => continue,
            Some(line) => yaml.push_str(line),
            None => yaml.push_str(line),
        }
        yaml.push('\n');
    }
    yaml.push_str(if settings.auth { YAML_AUTH } else { YAML_NO_AUTH });
    if let Some(folder) = &manifest.tls {
        yaml.push_str(&YAML_TLS.replace("@TLS_DIR@", &folder.to_string_lossy()));
    }
    yaml.push_str(&settings.yaml);
    yaml.replace("@CLUSTER@", &format!("kandra-{}", ports.cql))
        .replace("@SEEDS@", &seeds.join(","))
        .replace("@ADDRESS@", &address(node).to_string())
        .replace("@TOKEN@", &token(node, settings.nodes).to_string())
        .replace("@CQL_PORT@", &ports.cql.to_string())
        .replace("@STORAGE_PORT@", &ports.storage.to_string())
}

/// The options of a node's Java, for a file that `java @file` reads. `folder` is the node's own.
pub(crate) fn java_args(manifest: &Manifest, jars: &[PathBuf], folder: &Path) -> String {
    let settings = &manifest.settings;
    let mut args = JAVA_17.to_owned();
    let mut push = |arg: &str| {
        let _ = writeln!(args, "{}", quoted(arg));
    };
    push(&format!("-Xms{}m", settings.heap_mib));
    push(&format!("-Xmx{}m", settings.heap_mib));
    if let Some(jamm) = jars.iter().find(|jar| is_named(jar, "jamm-")) {
        push(&format!("-javaagent:{}", jamm.display()));
    }
    let at = |name: &str| folder.join(name);
    push(&format!("-XX:ErrorFile={}", at("logs/hs_err.log").display()));
    push(&format!("-Djava.io.tmpdir={}", at("tmp").display()));
    push(&format!("-Dcassandra.config={}", file_url(&at("cassandra.yaml"))));
    push(&format!("-Dcassandra.storagedir={}", at("data").display()));
    push(&format!("-Dcassandra.logdir={}", at("logs").display()));
    push(&format!("-Dcassandra.triggers_dir={}", at("triggers").display()));
    push(&format!("-Dlogback.configurationFile={}", file_url(&at("logback.xml"))));
    // Every node holds these two, so that the death of one locks nobody out. 4.0 does not know the options.
    push(&format!("-Dcassandra.system_distributed.default_rf={}", settings.nodes));
    push(&format!("-Dcassandra.system_auth.default_rf={}", settings.nodes));
    if settings.forgetful {
        push("-Dcassandra.test.flush_local_schema_changes=false");
    }
    settings.java_options.iter().for_each(|option| push(option));
    let class_path: Vec<_> = jars.iter().map(|jar| jar.to_string_lossy()).collect();
    push("-cp");
    push(&class_path.join(":"));
    push("org.apache.cassandra.service.CassandraDaemon");
    args
}

/// The token of a node: they are spread evenly over the ring.
fn token(node: u8, nodes: u8) -> i64 {
    let half = i64::MAX / i64::from(nodes);
    (2 * i64::from(node) - 1 - i64::from(nodes)) * half
}

fn is_named(jar: &Path, prefix: &str) -> bool {
    jar.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

/// An argument as it stands in an argument file of Java.
fn quoted(arg: &str) -> String {
    format!("\"{}\"", arg.replace('\\', "\\\\").replace('"', "\\\""))
}

fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Purpose;
    use crate::settings::Settings;

    fn private(settings: Settings) -> Manifest {
        Manifest { purpose: Purpose::Private, settings, cql_port: 9042, tls: None }
    }

    fn three(version: &str) -> Manifest {
        private(Settings { version: version.parse().unwrap(), ..Settings::nodes(3) })
    }

    fn ports() -> Ports {
        Ports::of(9042).unwrap()
    }

    #[test]
    fn every_place_holder_is_filled() {
        for version in ["4.0.19", "4.1.10", "5.0.9", "6.0-alpha2"] {
            let manifest = Manifest { tls: Some("/tls".into()), ..three(version) };
            let yaml = yaml(&manifest, ports(), 2);
            assert!(!yaml.contains('@'), "{yaml}");
            for line in [
                "listen_address: 127.0.0.2",
                "native_transport_port: 9042",
                "storage_port: 7000",
                "      - seeds: '127.0.0.1:7000,127.0.0.2:7000,127.0.0.3:7000'",
                "  keystore: '/tls/node.p12'",
            ] {
                assert!(yaml.lines().any(|found| found == line), "{line} in {yaml}");
            }
        }
    }

    #[test]
    fn each_version_gets_its_own_keys() {
        let keys = |version| yaml(&three(version), ports(), 1);
        assert!(keys("4.0.19").contains("enable_materialized_views: true\n"));
        assert!(!keys("4.1.10").contains("sai_options") && !keys("4.1.10").contains(" #5\n"));
        assert!(keys("4.1.10").contains("\nmaterialized_views_enabled: true\n"));
        assert!(keys("5.0.9").contains("\nstorage_compatibility_mode: NONE\n"));
        assert!(keys("5.0.9").contains("\n  segment_write_buffer_size: 32MiB\n"));
    }

    #[test]
    fn settings_reach_the_files() {
        let manifest = private(Settings {
            auth: true,
            heap_mib: 700,
            java_options: vec!["-Da=b c".to_owned()],
            yaml: "dynamic_snitch: true\n".to_owned(),
            ..Settings::nodes(1)
        });
        let yaml = yaml(&manifest, ports(), 1);
        assert!(yaml.contains("PasswordAuthenticator") && yaml.ends_with("dynamic_snitch: true\n"));
        assert!(!yaml.contains("client_encryption_options"));
        let args =
            java_args(&manifest, &["/lib/jamm-1.jar".into(), "/lib/x.jar".into()], Path::new("/a b/node1"));
        assert!(args.contains("\"-Xmx700m\"\n") && args.contains("\"-Da=b c\"\n"));
        assert!(args.contains("\"-javaagent:/lib/jamm-1.jar\"\n"));
        assert!(args.contains("\"-Dcassandra.config=file:///a%20b/node1/cassandra.yaml\"\n"));
        assert!(args.contains("\"-cp\"\n\"/lib/jamm-1.jar:/lib/x.jar\"\n"));
    }

    #[test]
    fn only_nodes_that_are_said_to_may_forget_their_schema() {
        let forgets = |settings| {
            java_args(&private(settings), &[], Path::new("/")).contains("flush_local_schema_changes")
        };
        assert!(!forgets(Settings::nodes(1)));
        assert!(forgets(Settings { forgetful: true, ..Settings::nodes(1) }));
    }

    #[test]
    fn tokens_are_spread_evenly() {
        assert_eq!(token(1, 1), 0);
        let tokens: Vec<_> = (1..=9).map(|node| token(node, 9)).collect();
        assert!(
            tokens
                .windows(2)
                .all(|pair| i128::from(pair[1]) - i128::from(pair[0]) == 2 * i128::from(i64::MAX / 9))
        );
    }
}
