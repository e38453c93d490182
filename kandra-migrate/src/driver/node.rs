//! One node, asked directly.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use scylla::cluster::NodeAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What a fresh connection to a node's port meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knock {
    /// A process that answers, or that closes the connection.
    Answered,
    /// A connection that nobody reads from: a stopped process still has its port.
    Mute,
    /// A host without such a process.
    Refused,
    /// No host, or no way to it.
    Unreachable,
}

/// A CQL v4 OPTIONS request: version, flags, stream, opcode, length. A server with TLS takes it for garbage and closes
/// the connection, which is an answer as well.
const OPTIONS_FRAME: [u8; 9] = [0x04, 0, 0, 0, 0x05, 0, 0, 0, 0];

/// Connects to a port anew and waits for a sign of life.
pub(crate) async fn knock(address: SocketAddr, timeout_each: Duration) -> Knock {
    let mut stream = match timeout(timeout_each, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => return Knock::Refused,
        Ok(Err(_)) | Err(_) => return Knock::Unreachable,
    };
    let first_byte = async {
        stream.write_all(&OPTIONS_FRAME).await?;
        stream.read(&mut [0]).await
    };
    match timeout(timeout_each, first_byte).await {
        Ok(_) => Knock::Answered,
        Err(_) => Knock::Mute,
    }
}

/// The address by which the driver knows a node.
pub(crate) fn socket_address(address: NodeAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(200);

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        (listener, address)
    }

    #[tokio::test]
    async fn a_process_that_answers() {
        let (listener, address) = listener().await;
        let serve = async {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut frame = [0; OPTIONS_FRAME.len()];
            stream.read_exact(&mut frame).await.expect("a frame");
            assert_eq!(frame, OPTIONS_FRAME);
            stream.write_all(&[0x84]).await.expect("an answer");
        };
        let (knock, ()) = tokio::join!(knock(address, TIMEOUT), serve);
        assert_eq!(knock, Knock::Answered);
    }

    #[tokio::test]
    async fn a_process_that_closes() {
        let (listener, address) = listener().await;
        let serve = async { drop(listener.accept().await) };
        let (knock, ()) = tokio::join!(knock(address, TIMEOUT), serve);
        assert_eq!(knock, Knock::Answered);
    }

    #[tokio::test]
    async fn a_stopped_process_still_has_its_port() {
        let (_listener, address) = listener().await;
        assert_eq!(knock(address, TIMEOUT).await, Knock::Mute);
    }

    #[tokio::test]
    async fn no_process() {
        let (listener, address) = listener().await;
        drop(listener);
        assert_eq!(knock(address, TIMEOUT).await, Knock::Refused);
    }
}
