//! As much of the CQL protocol, version 4, as it takes to see whether a node serves and to run a statement.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::error::Error;

const CONNECT_SECS_MAX: u64 = 2;

/// Longer than any timeout of a node, so that its own error is seen.
const ANSWER_SECS_MAX: u64 = 75;

/// The most that one answer may hold.
const FRAME_BYTES_MAX: usize = 256 << 20;

/// User name and password of a new cluster with logins.
const LOGIN: &[u8] = b"\0cassandra\0cassandra";

/// How many nodes must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consistency {
    One = 1,
    Two = 2,
    Three = 3,
    All = 5,
}

/// The rows of an answer, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The values, a row each, in the order of the columns.
    pub rows: Vec<Vec<String>>,
}

impl fmt::Display for Rows {
    /// A table with a line for each row; nothing if there are no columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.columns]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        for row in [&self.columns].into_iter().chain(&self.rows).filter(|row| !row.is_empty()) {
            let cells: Vec<_> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}", width = *width))
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// What a statement was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Rows(Rows),
    SchemaChange,
    Other,
}

impl Answer {
    pub(crate) fn into_rows(self) -> Rows {
        if let Self::Rows(rows) = self { rows } else { Rows::default() }
    }
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// A connection to one node.
pub(crate) struct Connection {
    address: SocketAddr,
    stream: Box<dyn Stream>,
}

mod opcode {
    pub(super) const ERROR: u8 = 0x00;
    pub(super) const STARTUP: u8 = 0x01;
    pub(super) const READY: u8 = 0x02;
    pub(super) const AUTHENTICATE: u8 = 0x03;
    pub(super) const QUERY: u8 = 0x07;
    pub(super) const RESULT: u8 = 0x08;
    pub(super) const AUTH_RESPONSE: u8 = 0x0f;
    pub(super) const AUTH_SUCCESS: u8 = 0x10;
}

impl Connection {
    /// Connects and logs in; with TLS if there is a certificate authority.
    pub(crate) fn open(address: SocketAddr, authority: Option<&Path>) -> Result<Self, Error> {
        let stream = connect(address, authority).map_err(|error| refused(address, error.to_string()))?;
        let mut connection = Self { address, stream };
        let mut startup = 1_u16.to_be_bytes().to_vec();
        for text in ["CQL_VERSION", "3.0.0"] {
            startup.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
            startup.extend(text.as_bytes());
        }
        let (mut answer, _) = connection.call(opcode::STARTUP, &startup)?;
        if answer == opcode::AUTHENTICATE {
            let (success, _) = connection.call(opcode::AUTH_RESPONSE, &with_length(LOGIN))?;
            answer = if success == opcode::AUTH_SUCCESS { opcode::READY } else { success };
        }
        if answer == opcode::READY {
            return Ok(connection);
        }
        Err(refused(address, format!("no answer to a new connection but opcode {answer:#04x}")))
    }

    pub(crate) fn query(&mut self, statement: &str, consistency: Consistency) -> Result<Answer, Error> {
        let mut body = with_length(statement.as_bytes());
        body.extend((consistency as u16).to_be_bytes());
        body.push(0);
        let (answer, body) = self.call(opcode::QUERY, &body)?;
        if answer != opcode::RESULT {
            return Err(refused(self.address, format!("no answer to a statement but opcode {answer:#04x}")));
        }
        result(&mut Body(&body)).ok_or_else(|| refused(self.address, "an answer that ends too early"))
    }

    fn call(&mut self, opcode: u8, body: &[u8]) -> Result<(u8, Vec<u8>), Error> {
        let (flags, answer, body) =
            self.exchange(opcode, body).map_err(|error| refused(self.address, error.to_string()))?;
        let mut rest = Body(&body);
        let short = || refused(self.address, "an answer that ends too early");
        let rest = rest.skip_extras(flags).ok_or_else(short)?;
        if answer == opcode::ERROR {
            let code = rest.int().ok_or_else(short)?;
            let text = rest.string().ok_or_else(short)?;
            return Err(refused(self.address, format!("error {code:#06x}: {text}")));
        }
        Ok((answer, rest.0.to_vec()))
    }

    /// Sends one frame, and reads the flags, the opcode and the body of the answer.
    fn exchange(&mut self, opcode: u8, body: &[u8]) -> io::Result<(u8, u8, Vec<u8>)> {
        let mut frame = vec![4, 0, 0, 0, opcode];
        frame.extend(with_length(body));
        self.stream.write_all(&frame)?;
        self.stream.flush()?;
        let mut header = [0; 9];
        self.stream.read_exact(&mut header)?;
        let [_, flags, _, _, answer, length @ ..] = header;
        let length = u32::from_be_bytes(length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(io::Error::other(format!("an answer of {length} bytes")));
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((flags, answer, body))
    }
}

fn connect(address: SocketAddr, authority: Option<&Path>) -> io::Result<Box<dyn Stream>> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(CONNECT_SECS_MAX))?;
    stream.set_read_timeout(Some(Duration::from_secs(ANSWER_SECS_MAX)))?;
    stream.set_write_timeout(Some(Duration::from_secs(ANSWER_SECS_MAX)))?;
    let Some(authority) = authority else { return Ok(Box::new(stream)) };
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(authority).map_err(io::Error::other)?)
        .map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::from(address.ip());
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}

fn refused(address: SocketAddr, reason: impl Into<String>) -> Error {
    Error::Cql { address, reason: reason.into() }
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    out.extend(bytes);
    out
}

/// `None` is a null.
type Value<'a> = Option<&'a [u8]>;

/// What is left to read of an answer; each reader is `None` if it ends too early.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn string(&mut self) -> Option<String> {
        let length = self.short()?.into();
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn bytes(&mut self) -> Option<Value<'a>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }

    /// Skips what may come before the body proper: tracing id, warnings, payload.
    fn skip_extras(&mut self, flags: u8) -> Option<&mut Self> {
        if flags & 0x02 != 0 {
            self.take(16)?;
        }
        if flags & 0x08 != 0 {
            for _ in 0..self.short()? {
                self.string()?;
            }
        }
        if flags & 0x04 != 0 {
            for _ in 0..self.short()? {
                self.string()?;
                self.bytes()?;
            }
        }
        Some(self)
    }

    fn kind(&mut self) -> Option<Kind> {
        Some(match self.short()? {
            0x00 => {
                self.string()?;
                Kind::Plain(0)
            }
            0x20 => Kind::List("[]", Box::new(self.kind()?)),
            0x21 => Kind::Map(Box::new((self.kind()?, self.kind()?))),
            0x22 => Kind::List("{}", Box::new(self.kind()?)),
            0x30 => {
                let _names = (self.string()?, self.string()?);
                let fields = (0..self.short()?).map(|_| Some((self.string()?, self.kind()?)));
                Kind::Fields(fields.collect::<Option<_>>()?)
            }
            0x31 => {
                let fields = (0..self.short()?).map(|_| Some((String::new(), self.kind()?)));
                Kind::Fields(fields.collect::<Option<_>>()?)
            }
            code => Kind::Plain(code),
        })
    }
}

/// The type of a column.
enum Kind {
    /// By its code in the protocol.
    Plain(u16),
    /// A list or a set, with its brackets.
    List(&'static str, Box<Kind>),
    Map(Box<(Kind, Kind)>),
    /// A user-defined type, or a tuple, whose fields have no names.
    Fields(Vec<(String, Kind)>),
}

fn result(body: &mut Body<'_>) -> Option<Answer> {
    Some(match body.int()? {
        2 => Answer::Rows(rows(body)?),
        5 => Answer::SchemaChange,
        _ => Answer::Other,
    })
}

fn rows(body: &mut Body<'_>) -> Option<Rows> {
    let (flags, columns) = (body.int()?, body.int()?);
    if flags & 0x02 != 0 {
        body.bytes()?;
    }
    let one_table = flags & 0x01 != 0;
    if one_table {
        let _names = (body.string()?, body.string()?);
    }
    let columns = (0..columns).map(|_| {
        if !one_table {
            let _names = (body.string()?, body.string()?);
        }
        Some((body.string()?, body.kind()?))
    });
    let columns: Vec<_> = columns.collect::<Option<_>>()?;
    let rows =
        (0..body.int()?).map(|_| columns.iter().map(|(_, kind)| Some(text(kind, body.bytes()?))).collect());
    let rows = rows.collect::<Option<_>>()?;
    Some(Rows { columns: columns.into_iter().map(|(name, _)| name).collect(), rows })
}

/// A value as text, or in hexadecimal digits if its type is not known here.
fn text(kind: &Kind, value: Value<'_>) -> String {
    let Some(raw) = value else { return "null".to_owned() };
    let known = match kind {
        Kind::Plain(code) => plain(*code, raw),
        Kind::List(brackets, item) => many(raw, |body| Some(text(item, body.bytes()?))).map(|items| {
            let (open, close) = brackets.split_at(1);
            format!("{open}{items}{close}")
        }),
        Kind::Map(pair) => {
            let entry = |body: &mut Body<'_>| {
                Some(format!("{}: {}", text(&pair.0, body.bytes()?), text(&pair.1, body.bytes()?)))
            };
            many(raw, entry).map(|entries| format!("{{{entries}}}"))
        }
        Kind::Fields(fields) => Some(record(fields, &mut Body(raw))),
    };
    known.unwrap_or_else(|| raw.iter().fold("0x".to_owned(), |hex, byte| hex + &format!("{byte:02x}")))
}

fn many(raw: &[u8], mut one: impl FnMut(&mut Body<'_>) -> Option<String>) -> Option<String> {
    let mut body = Body(raw);
    let items: Option<Vec<_>> = (0..body.int()?).map(|_| one(&mut body)).collect();
    Some(items?.join(", "))
}

/// Fields that were added to a type later may be missing at the end.
fn record(fields: &[(String, Kind)], body: &mut Body<'_>) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, kind)| {
            let value = text(kind, body.bytes().flatten());
            if name.is_empty() { value } else { format!("{name}: {value}") }
        })
        .collect();
    format!("({})", fields.join(", "))
}

fn plain(code: u16, raw: &[u8]) -> Option<String> {
    Some(match code {
        0x01 | 0x0a | 0x0d => String::from_utf8_lossy(raw).into_owned(),
        0x02 | 0x05 | 0x09 | 0x0b | 0x0e | 0x13 | 0x14 => integer(raw)?.to_string(),
        0x04 => (raw != [0]).to_string(),
        0x07 => f64::from_be_bytes(raw.try_into().ok()?).to_string(),
        0x08 => f32::from_be_bytes(raw.try_into().ok()?).to_string(),
        0x0c | 0x0f => uuid(raw)?,
        0x10 => match raw.len() {
            4 => IpAddr::from(<[u8; 4]>::try_from(raw).ok()?).to_string(),
            _ => IpAddr::from(<[u8; 16]>::try_from(raw).ok()?).to_string(),
        },
        _ => return None,
    })
}

/// A signed number of up to 16 bytes.
fn integer(raw: &[u8]) -> Option<i128> {
    let mut bytes = if *raw.first()? < 0x80 { [0; 16] } else { [0xff; 16] };
    bytes.get_mut(16_usize.checked_sub(raw.len())?..)?.copy_from_slice(raw);
    Some(i128::from_be_bytes(bytes))
}

fn uuid(raw: &[u8]) -> Option<String> {
    let digits = format!("{:032x}", u128::from_be_bytes(raw.try_into().ok()?));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part).unwrap_or_default());
    Some(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_cql_writes_them() {
        let show = |code, raw: &[u8]| text(&Kind::Plain(code), Some(raw));
        assert_eq!(show(0x0d, "Zoë".as_bytes()), "Zoë");
        assert_eq!(show(0x09, &(-7_i32).to_be_bytes()), "-7");
        assert_eq!(show(0x02, &i64::MIN.to_be_bytes()), i64::MIN.to_string());
        assert_eq!(show(0x04, &[1]), "true");
        assert_eq!(show(0x0c, &[0x11; 16]), "11111111-1111-1111-1111-111111111111");
        assert_eq!(show(0x10, &[127, 0, 0, 1]), "127.0.0.1");
        assert_eq!(show(0x03, &[0xca, 0xfe]), "0xcafe");
        assert_eq!(show(0x09, &[]), "0x");
        assert_eq!(text(&Kind::Plain(0x09), None), "null");
    }

    #[test]
    fn collections_and_records_are_shown() {
        let int = || Kind::Plain(0x09);
        let mut two = vec![0, 0, 0, 2];
        two.extend([with_length(&[0, 0, 0, 1]), with_length(&[0, 0, 0, 2])].concat());
        assert_eq!(text(&Kind::List("[]", Box::new(int())), Some(&two)), "[1, 2]");
        assert_eq!(text(&Kind::List("{}", Box::new(int())), Some(&two)), "{1, 2}");
        two[3] = 1;
        assert_eq!(text(&Kind::Map(Box::new((int(), int()))), Some(&two)), "{1: 2}");
        let fields = Kind::Fields(vec![("a".to_owned(), int()), ("b".to_owned(), int())]);
        assert_eq!(text(&fields, Some(&with_length(&[0, 0, 0, 3]))), "(a: 3, b: null)");
    }

    #[test]
    fn rows_are_read_and_shown_as_a_table() {
        let string =
            |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
        let mut raw = [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1].to_vec();
        raw.extend([string("ks"), string("t"), string("name"), vec![0, 0x0d], vec![0, 0, 0, 1]].concat());
        raw.extend(with_length(b"kandra"));
        let found = result(&mut Body(&raw)).unwrap();
        assert_eq!(found.into_rows().to_string(), "name\nkandra\n");
        for length in 0..raw.len() {
            assert_eq!(result(&mut Body(&raw[..length])), None, "{length}");
        }
        assert_eq!(result(&mut Body(&[0, 0, 0, 5])), Some(Answer::SchemaChange));
        assert_eq!(result(&mut Body(&[0, 0, 0, 1])), Some(Answer::Other));
    }
}
