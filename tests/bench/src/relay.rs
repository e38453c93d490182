//! Relays in front of the nodes that count what becomes of conditional writes. They pass everything on as it comes.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::Error;
use crate::tap::{Tap, Verdict};

const BUFFER_BYTES: usize = 64 * 1024;

/// How many conditional writes had no success.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) lost: u64,
    pub(crate) unknown: u64,
}

impl Counts {
    pub(crate) fn since(self, before: Self) -> Self {
        Self { lost: self.lost - before.lost, unknown: self.unknown - before.unknown }
    }
}

#[derive(Debug, Default)]
struct Counters {
    lost: AtomicU64,
    unknown: AtomicU64,
}

/// A relay for each node.
#[derive(Debug)]
pub(crate) struct Relays {
    relay_of: HashMap<SocketAddr, SocketAddr>,
    counters: Arc<Counters>,
}

impl Relays {
    /// Starts one for each node that the session knows. They end with the runtime.
    pub(crate) async fn start(session: &Session) -> Result<Self, Error> {
        let counters = Arc::new(Counters::default());
        let mut relay_of = HashMap::new();
        for (n, node) in (1..).zip(session.get_cluster_state().get_nodes_info()) {
            let node = SocketAddr::new(node.address.ip(), node.address.port());
            // The driver looks for all nodes on the port of the first, so the addresses differ and the port does not.
            let address = SocketAddr::from((Ipv4Addr::new(127, 0, 1, n), node.port()));
            let listener =
                TcpListener::bind(address).await.map_err(|error| format!("relay {address}: {error}"))?;
            tokio::spawn(accept(listener, node, counters.clone()));
            relay_of.insert(node, address);
        }
        Ok(Self { relay_of, counters })
    }

    /// A session with the driver's defaults, through the relays.
    pub(crate) async fn session(&self) -> Result<Arc<Session>, Error> {
        let builder = SessionBuilder::new()
            .known_nodes_addr(self.relay_of.values())
            .address_translator(Arc::new(self.relay_of.clone()));
        Ok(Arc::new(builder.build().await?))
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { lost: self.counters.lost.load(Relaxed), unknown: self.counters.unknown.load(Relaxed) }
    }
}

async fn accept(listener: TcpListener, node: SocketAddr, counters: Arc<Counters>) {
    while let Ok((client, _)) = listener.accept().await {
        let counters = counters.clone();
        tokio::spawn(async move {
            // A driver that finds no node says so itself.
            let Ok(server) = TcpStream::connect(node).await else { return };
            if client.set_nodelay(true).and(server.set_nodelay(true)).is_err() {
                return;
            }
            let ((mut from_client, to_client), (from_server, mut to_server)) =
                (client.into_split(), server.into_split());
            // Either end that closes ends both.
            tokio::select! {
                _ = copy(&mut from_client, &mut to_server) => {}
                _ = answers(from_server, to_client, &counters) => {}
            }
        });
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    counters: &Counters,
) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut tap = Tap::default();
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        tap.feed(&buffer[..read], |verdict| {
            match verdict {
                Verdict::Applied => return,
                Verdict::Lost => &counters.lost,
                Verdict::Unknown => &counters.unknown,
            }
            .fetch_add(1, Relaxed);
        });
        to.write_all(&buffer[..read]).await?;
    }
}
