//! An instance of the fleet's application in a process of its own.

use std::process::{Child, Command, Stdio};

use integration::{Keyspace, within};

/// Killed when it is dropped.
pub(crate) struct Instance(Option<Child>);

impl Instance {
    /// Starts one; with `brief` it has a short lease, with the name of a step after that it hangs in it. The
    /// other manners are those of the program.
    pub(crate) fn start(keyspace: &Keyspace, manner: &[&str]) -> Self {
        let state = keyspace.session.get_cluster_state();
        let hosts: Vec<_> = state.get_nodes_info().iter().map(|node| node.address.to_string()).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_instance"));
        command.args([&hosts.join(","), &keyspace.name]).args(manner);
        Self(Some(command.stdout(Stdio::piped()).spawn().unwrap()))
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// What it printed, once it has ended.
    pub(crate) async fn outcome(mut self) -> String {
        let child = self.0.take().unwrap();
        let ended = tokio::task::spawn_blocking(|| child.wait_with_output());
        let output = within("an instance ends", ended).await.unwrap().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn end(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end();
    }
}
