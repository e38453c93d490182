//! Ctrl-C, and the signal that orchestrators send.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::sync::watch;

use super::output::say;

/// Exit codes of processes that a signal ended, by the convention of shells: 128 and its number.
const SIGINT_EXIT: u8 = 128 + 2;
const SIGTERM_EXIT: u8 = 128 + 15;

/// The signals that came.
#[derive(Debug)]
pub(super) struct Signals {
    exit: watch::Receiver<Option<u8>>,
    is_graceful: Arc<AtomicBool>,
}

impl Signals {
    /// Listens from now on. A signal ends the process at once, until [`Signals::be_graceful`].
    ///
    /// On a thread and a runtime of their own: a code task that blocks its thread must not keep a second signal from
    /// being heard. And by handlers, since process 1 of a container has no default ones.
    pub(super) fn listen() -> io::Result<Self> {
        let (sender, exit) = watch::channel(None);
        let is_graceful = Arc::new(AtomicBool::new(false));
        let graceful = Arc::clone(&is_graceful);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let mut source = {
            let _context = runtime.enter();
            Source::new()?
        };
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                loop {
                    let exit = source.next().await;
                    let is_first = sender.send_replace(Some(exit)).is_none();
                    if !(is_first && graceful.load(Ordering::SeqCst)) {
                        std::process::exit(i32::from(exit));
                    }
                    if io::stderr().is_terminal() {
                        // After what is on the line already: the progress, and the ^C.
                        say("");
                    }
                    say(
                        "stopping once the step under way allows it; a second signal stops at once, and the lease then lapses by itself"
                    );
                }
            });
        })?;
        Ok(Self { exit, is_graceful })
    }

    /// From now on, the first signal only asks.
    pub(super) fn be_graceful(&self) {
        self.is_graceful.store(true, Ordering::SeqCst);
    }

    /// Ends once a signal has come.
    pub(super) fn stop(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut exit = self.exit.clone();
        async move {
            if exit.wait_for(Option::is_some).await.is_err() {
                // Nobody listens any more: none will come.
                std::future::pending::<()>().await;
            }
        }
    }

    /// The exit code of the signal that came.
    pub(super) fn exit_code(&self) -> Option<u8> {
        *self.exit.borrow()
    }
}

#[cfg(unix)]
struct Source {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Source {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT_EXIT,
            _ = self.terminate.recv() => SIGTERM_EXIT,
        }
    }
}

#[cfg(windows)]
struct Source {
    interrupt: tokio::signal::windows::CtrlC,
    terminate: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Source {
    fn new() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_c, ctrl_shutdown};
        Ok(Self { interrupt: ctrl_c()?, terminate: ctrl_shutdown()? })
    }

    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT_EXIT,
            _ = self.terminate.recv() => SIGTERM_EXIT,
        }
    }
}
