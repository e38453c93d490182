//! Certificates for nodes that speak TLS, made once with the `keytool` of Java.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::error::{Doing as _, Error};
use crate::java::Java;
use crate::settings::{NODES_MAX, address};
use crate::wait::Lock;

const MAKE_SECS_MAX: u64 = 60;

/// The certificates are for tests on loopback; their password keeps nothing secret.
const PASSWORD: &str = "changeit";

/// The folder with `node.p12` and `ca.pem`, made unless it is there.
pub(crate) fn ensure(cache: &Path, java: &Java) -> Result<PathBuf, Error> {
    let folder = cache.join("tls");
    if folder.is_dir() {
        return Ok(folder);
    }
    let _lock = Lock::acquire(&cache.join("tls.lock"), Duration::from_secs(MAKE_SECS_MAX))?;
    if folder.is_dir() {
        return Ok(folder);
    }
    let partial = cache.join("tls.partial");
    if partial.is_dir() {
        fs::remove_dir_all(&partial).doing(|| format!("remove {}", partial.display()))?;
    }
    fs::create_dir_all(&partial).doing(|| format!("create {}", partial.display()))?;
    make(&Keytool { program: java.keytool(), folder: &partial })?;
    fs::rename(&partial, &folder).doing(|| format!("rename {}", partial.display()))?;
    Ok(folder)
}

/// The certificate that signed those of the nodes.
pub(crate) fn authority(folder: &Path) -> PathBuf {
    folder.join("ca.pem")
}

fn make(keytool: &Keytool<'_>) -> Result<(), Error> {
    let addresses: Vec<_> = (1..=NODES_MAX).map(|node| format!("ip:{}", address(node))).collect();
    let names = format!("san=dns:localhost,{}", addresses.join(","));
    keytool.generate("ca", &["-ext", "bc:c=ca:true", "-ext", "ku:c=keyCertSign,cRLSign"])?;
    keytool.run("ca", &["-exportcert", "-rfc", "-alias", "ca", "-file", "ca.pem"])?;
    keytool.generate("node", &[])?;
    keytool.run("node", &["-certreq", "-alias", "node", "-file", "node.csr"])?;
    let usage = ["-ext", &names, "-ext", "ku:c=digitalSignature", "-ext", "eku=serverAuth"];
    let sign = ["-gencert", "-rfc", "-alias", "ca", "-validity", "36500", "-infile", "node.csr"];
    keytool.run("ca", &[&sign[..], &["-outfile", "node.pem"], &usage].concat())?;
    keytool.run("node", &["-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem"])?;
    keytool.run("node", &["-importcert", "-noprompt", "-alias", "node", "-file", "node.pem"])
}

struct Keytool<'a> {
    program: PathBuf,
    folder: &'a Path,
}

impl Keytool<'_> {
    /// A new key in a store of its own.
    fn generate(&self, name: &str, extensions: &[&str]) -> Result<(), Error> {
        let subject = format!("CN=kandra-test-{name}");
        let key = ["-genkeypair", "-alias", name, "-dname", &subject, "-keyalg", "EC"];
        let kind = ["-groupname", "secp256r1", "-validity", "36500"];
        self.run(name, &[&key[..], &kind, extensions].concat())
    }

    fn run(&self, store: &str, arguments: &[&str]) -> Result<(), Error> {
        let store = format!("{store}.p12");
        let output = Command::new(&self.program)
            .current_dir(self.folder)
            .args(arguments)
            .args(["-storetype", "PKCS12", "-keystore", &store, "-storepass", PASSWORD].map(OsStr::new))
            .output()
            .doing(|| format!("run {}", self.program.display()))?;
        if output.status.success() {
            return Ok(());
        }
        // keytool writes its errors to stdout.
        let reason = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Err(Error::Program { program: format!("keytool {}", arguments.join(" ")), reason })
    }
}
