//! A TCP relay in front of each node, which sees the requests of the CQL protocol (v4) that go through it.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::keyspace::{connected, session_builder};
use crate::wait::eventually;

const OPTIONS: u8 = 0x05;
const QUERY: u8 = 0x07;

/// A request that went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The CQL of a `QUERY`; the opcode of any other.
    pub text: String,
    /// Whether its answer went through as well.
    pub is_answered: bool,
}

/// Relays to all nodes of a cluster.
#[derive(Debug)]
pub struct Relay {
    /// Where the driver looks for a node, and where its relay is.
    addresses: HashMap<SocketAddr, SocketAddr>,
    traffic: Arc<Traffic>,
    is_open: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Traffic {
    requests: Mutex<Vec<Request>>,
    /// The answer to the next request with this text does not come through.
    lost: Mutex<Option<String>>,
}

impl Relay {
    /// In front of each node that this session knows.
    ///
    /// # Panics
    /// Where no port is free.
    pub async fn to(session: &Session) -> Self {
        let state = session.get_cluster_state();
        let nodes = state.get_nodes_info().iter();
        let servers: Vec<_> =
            nodes.map(|node| SocketAddr::new(node.address.ip(), node.address.port())).collect();
        let listeners = eventually("a port is free", || listeners(&servers)).await;

        let traffic = Arc::new(Traffic::default());
        let is_open = watch::Sender::new(true);
        let mut addresses = HashMap::new();
        for (server, listener) in servers.into_iter().zip(listeners) {
            let address = listener.local_addr().expect("its address");
            // The driver expects all nodes at the port at which it found the first.
            addresses.insert(SocketAddr::new(server.ip(), address.port()), address);
            tokio::spawn(listen(listener, server, Arc::clone(&traffic), is_open.subscribe()));
        }
        Self { addresses, traffic, is_open }
    }

    /// A session that reaches all nodes through this relay, once it is connected to all of them.
    ///
    /// # Panics
    /// Where it cannot be built.
    pub async fn session(&self) -> Arc<Session> {
        connected(self.builder().build().await.expect("a session through the relay")).await
    }

    /// So too, of this user, whose password is the name.
    ///
    /// # Panics
    /// Where it cannot be built.
    pub async fn session_as(&self, user: &str) -> Arc<Session> {
        let builder = self.builder().user(user, user);
        connected(builder.build().await.expect("a session through the relay")).await
    }

    fn builder(&self) -> SessionBuilder {
        let builder = session_builder().known_nodes_addr(self.addresses.values());
        builder.address_translator(Arc::new(self.addresses.clone()))
    }

    /// What went through since [`Relay::forget`], keepalives left out.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.traffic.requests).clone()
    }

    /// Of these, what does not only read.
    #[must_use]
    pub fn writes(&self) -> Vec<String> {
        let texts = self.requests().into_iter().map(|request| request.text);
        texts.filter(|text| !text.starts_with("SELECT ")).collect()
    }

    /// How many answered requests have this in their text.
    #[must_use]
    pub fn answered(&self, part: &str) -> usize {
        self.requests().iter().filter(|request| request.is_answered && request.text.contains(part)).count()
    }

    /// Counts anew.
    pub fn forget(&self) {
        lock(&self.traffic.requests).clear();
    }

    /// Keeps back the answer to the next request with this in its text.
    pub fn lose_answer_to(&self, part: &str) {
        *lock(&self.traffic.lost) = Some(part.to_owned());
    }

    /// Ends all connections and takes no new ones.
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }
}

/// One for each node, all on one port. On the node's own address, if that is of this host: there the crate under test
/// looks for it as well, beside the driver.
async fn listeners(servers: &[SocketAddr]) -> Option<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    let mut port = 0;
    for (server, n) in servers.iter().zip(1..) {
        let ip = if server.ip().is_loopback() { server.ip() } else { Ipv4Addr::new(127, 0, 1, n).into() };
        let listener = TcpListener::bind((ip, port)).await.ok()?;
        port = listener.local_addr().ok()?.port();
        listeners.push(listener);
    }
    Some(listeners)
}

async fn listen(
    listener: TcpListener,
    server: SocketAddr,
    traffic: Arc<Traffic>,
    is_open: watch::Receiver<bool>,
) {
    let accept = async {
        while let Ok((client, _)) = listener.accept().await {
            let (traffic, is_open) = (Arc::clone(&traffic), is_open.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = relay(client, server, &traffic) => {}
                    () = closed(is_open) => {}
                }
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = closed(is_open.clone()) => {}
    }
}

async fn closed(mut is_open: watch::Receiver<bool>) {
    // Without the relay itself nobody is left to be served either.
    let _ = is_open.wait_for(|open| !open).await;
}

/// Ends when one of the two sides does.
async fn relay(client: TcpStream, server: SocketAddr, traffic: &Traffic) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    // Latency is what the tests wait for.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let under_way = Mutex::new(HashMap::new());
    tokio::select! {
        _ = requests(from_client, to_server, traffic, &under_way) => {}
        _ = answers(from_server, to_client, traffic, &under_way) => {}
    }
}

/// What became of the request on a stream: where it stands in the list, or that its answer is not to come through.
enum UnderWay {
    Counted(Request),
    Lost,
}

type Streams = Mutex<HashMap<i16, UnderWay>>;

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    traffic: &Traffic,
    under_way: &Streams,
) -> std::io::Result<()> {
    loop {
        let frame = Frame::read(&mut from).await?;
        if frame.opcode() != OPTIONS {
            let text = frame.text();
            let request = Request { text, is_answered: false };
            let mut lost = lock(&traffic.lost);
            let state = if lost.as_ref().is_some_and(|part| request.text.contains(part)) {
                *lost = None;
                lock(&traffic.requests).push(request);
                UnderWay::Lost
            } else {
                lock(&traffic.requests).push(request.clone());
                UnderWay::Counted(request)
            };
            lock(under_way).insert(frame.stream(), state);
        }
        to.write_all(&frame.0).await?;
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    traffic: &Traffic,
    under_way: &Streams,
) -> std::io::Result<()> {
    loop {
        let frame = Frame::read(&mut from).await?;
        let request = lock(under_way).remove(&frame.stream());
        if matches!(request, Some(UnderWay::Lost)) {
            continue;
        }
        to.write_all(&frame.0).await?;
        if let Some(UnderWay::Counted(request)) = request {
            let mut requests = lock(&traffic.requests);
            // Those with the same text are alike: which of them was answered does not matter.
            if let Some(answered) = requests.iter_mut().find(|other| **other == request) {
                answered.is_answered = true;
            }
        }
    }
}

/// One frame, header and body.
struct Frame(Vec<u8>);

impl Frame {
    const HEADER_BYTES: usize = 9;
    const BODY_BYTES_MAX: usize = 256 << 20;

    async fn read(from: &mut OwnedReadHalf) -> std::io::Result<Self> {
        let mut frame = vec![0; Self::HEADER_BYTES];
        from.read_exact(&mut frame).await?;
        let body_bytes = u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]) as usize;
        if body_bytes > Self::BODY_BYTES_MAX {
            return Err(std::io::Error::other(format!("a frame of {body_bytes} bytes")));
        }
        frame.resize(Self::HEADER_BYTES + body_bytes, 0);
        from.read_exact(&mut frame[Self::HEADER_BYTES..]).await?;
        Ok(Self(frame))
    }

    fn stream(&self) -> i16 {
        i16::from_be_bytes([self.0[2], self.0[3]])
    }

    fn opcode(&self) -> u8 {
        self.0[4]
    }

    fn text(&self) -> String {
        let cql = || {
            let (length, rest) = self.0[Self::HEADER_BYTES..].split_first_chunk::<4>()?;
            rest.get(..u32::from_be_bytes(*length) as usize)
        };
        match self.opcode() {
            QUERY => String::from_utf8_lossy(cql().unwrap_or_default()).into_owned(),
            opcode => format!("opcode {opcode:#04x}"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
