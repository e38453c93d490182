//! Frames of the CQL protocol, version 4, without compression: what the driver speaks.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

const HEAD_BYTES: usize = 9;
/// The protocol's own bound.
const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
const REQUEST_VERSION: u8 = 0x04;
const ANSWER_VERSION: u8 = 0x84;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// An error is the answer.
    Error,
    /// A statement as text.
    Query,
    /// Rows, a new prepared statement, or nothing are the answer.
    Result,
    /// A statement is to be prepared.
    Prepare,
    /// A prepared statement is to be executed.
    Execute,
    /// A batch of statements.
    Batch,
    /// Any other.
    Other(u8),
}

impl From<u8> for Opcode {
    fn from(code: u8) -> Self {
        match code {
            0x00 => Self::Error,
            0x07 => Self::Query,
            0x08 => Self::Result,
            0x09 => Self::Prepare,
            0x0a => Self::Execute,
            0x0d => Self::Batch,
            other => Self::Other(other),
        }
    }
}

/// One frame.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    /// The next frame; `None` at the end of the stream.
    pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let mut bytes = vec![0; HEAD_BYTES];
        if stream.read(&mut bytes[..1]).await? == 0 {
            return Ok(None);
        }
        stream.read_exact(&mut bytes[1..]).await?;
        let length = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        let length = usize::try_from(length).ok().filter(|length| *length <= BODY_BYTES_MAX);
        let length = length.ok_or_else(|| io::Error::other("no frame of CQL: its length is out of range"))?;
        bytes.resize(HEAD_BYTES + length, 0);
        stream.read_exact(&mut bytes[HEAD_BYTES..]).await?;
        Ok(Some(Self { bytes }))
    }

    /// An answer of ours.
    pub(super) fn answer(opcode: u8, stream: [u8; 2], body: &[u8]) -> Self {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes();
        let head = [ANSWER_VERSION, 0, stream[0], stream[1], opcode];
        Self { bytes: [&head[..], &length, body].concat() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.bytes[HEAD_BYTES..]
    }

    pub(super) fn opcode(&self) -> Opcode {
        self.bytes[4].into()
    }

    pub(super) fn stream(&self) -> [u8; 2] {
        [self.bytes[2], self.bytes[3]]
    }

    /// The same frame as another stream's.
    pub(super) fn on_stream(mut self, stream: [u8; 2]) -> Self {
        [self.bytes[2], self.bytes[3]] = stream;
        self
    }

    pub(super) fn is_request(&self) -> bool {
        self.bytes[0] == REQUEST_VERSION
    }

    /// The id of a prepared statement: in an answer to PREPARE after the kind of result, in EXECUTE at the start.
    pub(super) fn prepared_id(&self) -> Option<&[u8]> {
        const PREPARED: [u8; 4] = [0, 0, 0, 4];
        let body = self.body();
        let id = match self.opcode() {
            Opcode::Result => body.strip_prefix(&PREPARED)?,
            Opcode::Execute => body,
            _ => return None,
        };
        let (length, rest) = id.split_first_chunk::<2>()?;
        rest.get(..usize::from(u16::from_be_bytes(*length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_follow_one_another() {
        let first = Frame::answer(0x08, [0, 7], &[0, 0, 0, 4, 0, 2, 0xab, 0xcd, 9]);
        let mut stream: &[u8] = &[first.bytes(), Frame::answer(0x00, [0, 8], b"").bytes()].concat();
        let read = Frame::read(&mut stream).await.unwrap().unwrap();
        assert_eq!((read.opcode(), read.stream(), read.is_request()), (Opcode::Result, [0, 7], false));
        assert_eq!(read.prepared_id(), Some(&[0xab, 0xcd][..]));
        let read = Frame::read(&mut stream).await.unwrap().unwrap();
        assert_eq!((read.opcode(), read.stream()), (Opcode::Error, [0, 8]));
        assert!(Frame::read(&mut stream).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn half_a_frame_is_an_error() {
        let frame = Frame::answer(0x08, [0, 7], b"body");
        let mut stream = &frame.bytes()[..11];
        assert!(Frame::read(&mut stream).await.is_err());
    }
}
