//! Relays between instances and nodes: they see each request, and lose, delay, double or break what rules say.
//!
//! A lane is a set of relays, one before each node, at addresses of its own. Each instance can have its own lane, so
//! that a fault is that instance's alone. Unlike `scylla-proxy`, a relay survives the kill and the restart of its node.

mod connection;
mod frame;
mod rule;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

pub use frame::Opcode;
pub use rule::{Fate, Gate, Pattern, Refusal, Request, Rule, Verdict};

/// How many lanes there are at 127.1.0.0 and up.
const LANES_MAX: u32 = 60_000;

/// A relay before each node.
#[derive(Debug)]
pub struct Lane {
    shared: Arc<Shared>,
    /// Each node's own address, and that of its relay.
    addresses: Vec<(SocketAddr, SocketAddr)>,
    listeners: Vec<AbortHandle>,
}

/// What the relays of a lane share.
#[derive(Debug, Default)]
struct Shared {
    rules: Mutex<Vec<Rule>>,
    counters: Mutex<Vec<(Pattern, Counter)>>,
    prepared: Mutex<HashMap<Vec<u8>, String>>,
    delay_ms: AtomicU64,
}

/// How often a pattern was met.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// So often until now.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Lane {
    /// A lane of its own before these nodes, on their port.
    pub async fn open(nodes: &[SocketAddr]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let shared = Arc::new(Shared::default());
        let lane = u32::try_from(NEXT.fetch_add(1, SeqCst)).unwrap_or(u32::MAX);
        if lane >= LANES_MAX {
            return Err(io::Error::other("too many lanes"));
        }
        let [.., high, low] = lane.to_be_bytes();
        let mut opened = Self { shared, addresses: Vec::new(), listeners: Vec::new() };
        for (number, &node) in (1_u8..).zip(nodes) {
            // 127.1.0.1 and up: Cassandra's own are at 127.0.0.1 and up.
            let address = SocketAddr::from((Ipv4Addr::new(127, high + 1, low, number), node.port()));
            let listener = TcpListener::bind(address).await?;
            let relaying = relay(Arc::clone(&opened.shared), listener, number, node);
            opened.listeners.push(tokio::spawn(relaying).abort_handle());
            opened.addresses.push((node, address));
        }
        Ok(opened)
    }

    /// Each node's own address, and that of its relay.
    #[must_use]
    pub fn addresses(&self) -> &[(SocketAddr, SocketAddr)] {
        &self.addresses
    }

    /// Adds a rule. Of several that match, the first one decides.
    pub fn rule(&self, pattern: Pattern, fate: Fate) {
        self.add(Rule::new(pattern, fate));
    }

    /// Adds a rule.
    pub fn add(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule);
    }

    /// Takes all rules back.
    pub fn clear(&self) {
        lock(&self.shared.rules).clear();
    }

    /// Counts from now on.
    #[must_use]
    pub fn count(&self, pattern: Pattern) -> Counter {
        let counter = Counter::default();
        lock(&self.shared.counters).push((pattern, counter.clone()));
        counter
    }

    /// Each request and each answer takes so much longer.
    pub fn delay(&self, delay: Duration) {
        self.shared.delay_ms.store(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), SeqCst);
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

impl Shared {
    fn fate(&self, request: &Request) -> Option<Fate> {
        for (pattern, counter) in lock(&self.counters).iter() {
            if pattern.matches(request) {
                counter.0.fetch_add(1, SeqCst);
            }
        }
        lock(&self.rules).iter_mut().find_map(|rule| rule.take(request))
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.load(SeqCst))
    }
}

async fn relay(shared: Arc<Shared>, listener: TcpListener, number: u8, node: SocketAddr) {
    // Ends with this task, and so with the lane.
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(connection::relay(Arc::clone(&shared), client, number, node));
        while connections.try_join_next().is_some() {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
