//! One connection of a client, and the one to its node.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::frame::{Frame, Opcode};
use super::rule::{Fate, Gate, Refusal, Request, Verdict};
use super::{Shared, lock};

/// Frames that may wait for a peer that does not read.
const QUEUE_MAX: usize = 1024;
/// Stream ids of our own: the driver takes the lowest free one.
const OWN_STREAM: u8 = 0x7f;

/// A frame, and when it goes out.
type Outgoing = (Instant, Frame);

/// What becomes of the answer that comes on a stream.
enum Pending {
    Lost,
    Held(Gate, Request),
    Replaced(Refusal),
    Cut,
    /// It has the id of this statement.
    Prepared(String),
    /// It is not passed on; this is sent then.
    Then(Frame),
    /// It is that to a request that was held. The sender keeps the connection to the node open until then.
    Late(Gate, mpsc::Sender<Outgoing>),
}

struct Link {
    shared: Arc<Shared>,
    node: u8,
    pending: Mutex<HashMap<[u8; 2], Pending>>,
}

/// Relays until one side ends.
pub(super) async fn relay(shared: Arc<Shared>, client: TcpStream, number: u8, node: SocketAddr) {
    let Ok(upstream) = TcpStream::connect(node).await else { return };
    // Small frames are not kept back; a platform that cannot do that is only slower.
    let _ = (client.set_nodelay(true), upstream.set_nodelay(true));
    let (client_read, client_write) = client.into_split();
    let (node_read, node_write) = upstream.into_split();
    let (to_node, node_queue) = mpsc::channel(QUEUE_MAX);
    let (to_client, client_queue) = mpsc::channel(QUEUE_MAX);
    let link = Arc::new(Link { shared, node: number, pending: Mutex::default() });
    // Its queue also has senders in requests that are held: it goes on when the client is gone.
    tokio::spawn(write(node_write, node_queue));
    let weak = to_node.downgrade();
    let requests = link.requests(client_read, to_node, to_client.clone());
    let answers = link.answers(node_read, to_client, weak);
    let mut answers = pin!(answers);
    tokio::select! {
        () = &mut answers => {}
        // The client is gone; what it had asked for is still answered.
        _ = async { tokio::join!(requests, write(client_write, client_queue)) } => answers.await,
    }
}

async fn write(mut stream: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some((due, frame)) = queue.recv().await {
        tokio::time::sleep_until(due).await;
        if stream.write_all(frame.bytes()).await.is_err() {
            return;
        }
    }
    // The peer may be gone already.
    let _ = stream.shutdown().await;
}

impl Link {
    fn due(&self) -> Instant {
        Instant::now() + self.shared.delay()
    }

    fn expect(&self, stream: [u8; 2], pending: Pending) {
        lock(&self.pending).insert(stream, pending);
    }

    async fn requests(
        self: &Arc<Self>,
        mut stream: OwnedReadHalf,
        to_node: mpsc::Sender<Outgoing>,
        to_client: mpsc::Sender<Outgoing>,
    ) {
        while let Ok(Some(frame)) = Frame::read(&mut stream).await {
            let request = self.request(&frame);
            let id = frame.stream();
            let fate = frame.is_request().then(|| self.shared.fate(&request)).flatten();
            match fate {
                Some(Fate::Lost) => continue,
                Some(Fate::Refused(refusal)) => {
                    // A client that is gone needs no answer.
                    let _ = to_client.send((self.due(), refusal.frame(id))).await;
                    continue;
                }
                Some(Fate::Held(gate)) => {
                    tokio::spawn(self.clone().held(gate, request, frame, to_node.clone()));
                    continue;
                }
                Some(Fate::Twice) => {
                    self.expect([OWN_STREAM, id[1]], Pending::Then(frame.clone()));
                    if to_node.send((self.due(), frame.on_stream([OWN_STREAM, id[1]]))).await.is_err() {
                        return;
                    }
                    continue;
                }
                Some(Fate::AnswerLost) => self.expect(id, Pending::Lost),
                Some(Fate::AnswerHeld(gate)) => self.expect(id, Pending::Held(gate, request)),
                Some(Fate::Cut) => self.expect(id, Pending::Cut),
                Some(Fate::ArrivesBut(refusal)) => self.expect(id, Pending::Replaced(refusal)),
                None if request.opcode == Opcode::Prepare => {
                    self.expect(id, Pending::Prepared(request.text));
                }
                None => {}
            }
            if to_node.send((self.due(), frame)).await.is_err() {
                return;
            }
        }
    }

    async fn held(
        self: Arc<Self>,
        gate: Gate,
        request: Request,
        frame: Frame,
        to_node: mpsc::Sender<Outgoing>,
    ) {
        if gate.wait(request).await == Verdict::Pass {
            self.expect(frame.stream(), Pending::Late(gate, to_node.clone()));
            // A node that is gone gets nothing.
            let _ = to_node.send((self.due(), frame)).await;
        }
    }

    async fn answers(
        self: &Arc<Self>,
        mut stream: OwnedReadHalf,
        to_client: mpsc::Sender<Outgoing>,
        to_node: mpsc::WeakSender<Outgoing>,
    ) {
        while let Ok(Some(frame)) = Frame::read(&mut stream).await {
            let id = frame.stream();
            let pending = lock(&self.pending).remove(&id);
            let frame = match pending {
                None => frame,
                Some(Pending::Lost) => continue,
                Some(Pending::Cut) => return,
                Some(Pending::Replaced(refusal)) => refusal.frame(id),
                Some(Pending::Held(gate, request)) => {
                    let to_client = to_client.clone();
                    tokio::spawn(async move {
                        if gate.wait(request).await == Verdict::Pass {
                            // A client that is gone needs no answer.
                            let _ = to_client.send((Instant::now(), frame)).await;
                        }
                    });
                    continue;
                }
                Some(Pending::Prepared(text)) => {
                    if let (Opcode::Result, Some(id)) = (frame.opcode(), frame.prepared_id()) {
                        lock(&self.shared.prepared).insert(id.to_vec(), text);
                    }
                    frame
                }
                Some(Pending::Then(second)) => {
                    if let Some(to_node) = to_node.upgrade() {
                        // A node that is gone gets nothing.
                        let _ = to_node.send((self.due(), second)).await;
                    }
                    continue;
                }
                Some(Pending::Late(gate, kept_open)) => {
                    gate.note_answer();
                    drop(kept_open);
                    frame
                }
            };
            // The client may be gone while a late request of it is answered.
            let _ = to_client.send((self.due(), frame)).await;
        }
    }

    fn request(&self, frame: &Frame) -> Request {
        let text = String::from_utf8_lossy(frame.body()).into_owned();
        let prepared = frame.prepared_id().and_then(|id| lock(&self.shared.prepared).get(id).cloned());
        let text = prepared.map(|prepared| format!("{prepared} {text}")).unwrap_or(text);
        Request { node: self.node, opcode: frame.opcode(), text }
    }
}
