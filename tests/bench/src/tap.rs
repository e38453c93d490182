//! What passes through a connection from a node: CQL frames, of which the answers to conditional writes are counted.

/// What became of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Applied,
    /// Its condition did not hold.
    Lost,
    /// The server does not know: contention, for one.
    Unknown,
}

/// Bytes of a frame's header in CQL v4: version, flags, stream, opcode, length of the body.
const HEADER: usize = 9;
const OPCODE_ERROR: u8 = 0x00;
const OPCODE_RESULT: u8 = 0x08;
const WRITE_TIMEOUT: i32 = 0x1100;
const ROWS: i32 = 2;

/// The frames of one connection, put together from what the network makes of them.
#[derive(Debug, Default)]
pub(crate) struct Tap(Vec<u8>);

impl Tap {
    /// Takes the next bytes and gives what they complete to `found`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(Verdict)) {
        self.0.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(header) = self.0[start..].first_chunk::<HEADER>() {
            let [_, _, _, _, opcode, length @ ..] = *header;
            let body = start + HEADER;
            let end = body + u32::from_be_bytes(length) as usize;
            let Some(body) = self.0.get(body..end) else { break };
            if let Some(verdict) = verdict(opcode, body) {
                found(verdict);
            }
            start = end;
        }
        self.0.drain(..start);
    }
}

fn verdict(opcode: u8, body: &[u8]) -> Option<Verdict> {
    let mut body = Body(body);
    match opcode {
        OPCODE_RESULT if body.int()? == ROWS => {
            let applied = body.applied()?;
            Some(if applied { Verdict::Applied } else { Verdict::Lost })
        }
        OPCODE_ERROR if body.int()? == WRITE_TIMEOUT => {
            let _message = body.string()?;
            let (_consistency, _received, _required) = (body.short()?, body.int()?, body.int()?);
            (body.string()? == b"CAS").then_some(Verdict::Unknown)
        }
        _ => None,
    }
}

/// What is left of a body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    const GLOBAL_TABLE: i32 = 1;
    const MORE_PAGES: i32 = 2;
    const NO_METADATA: i32 = 4;

    /// The first row's `[applied]`, after the kind of a result; `None` for an answer that does not have it.
    fn applied(&mut self) -> Option<bool> {
        let (flags, columns) = (self.int()?, self.int()?);
        if flags & Self::NO_METADATA != 0 {
            return None;
        }
        if flags & Self::MORE_PAGES != 0 {
            self.bytes()?;
        }
        let is_global = flags & Self::GLOBAL_TABLE != 0;
        if is_global {
            self.table()?;
        }
        for column in 0..columns {
            if !is_global {
                self.table()?;
            }
            if self.string()? != b"[applied]" && column == 0 {
                return None;
            }
            self.native_type()?;
        }
        let rows = self.int()?;
        (rows > 0).then(|| self.bytes()).flatten().map(|value| value == [1])
    }

    fn table(&mut self) -> Option<()> {
        self.string()?;
        self.string().map(drop)
    }

    /// Collections, tuples and the like are not skipped: no conditional write of the ledger has them.
    fn native_type(&mut self) -> Option<()> {
        const NATIVE: std::ops::RangeInclusive<u16> = 0x01..=0x15;
        NATIVE.contains(&self.short()?).then_some(())
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.short()?;
        self.take(length.into())
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.int()?;
        self.take(usize::try_from(length).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Vec<u8> {
        let length = u16::try_from(text.len()).unwrap();
        [&length.to_be_bytes(), text.as_bytes()].concat()
    }

    fn frame(opcode: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap();
        [&[0x84, 0, 0, 1, opcode][..], &length.to_be_bytes(), body].concat()
    }

    /// A row of columns with a type and a value each.
    fn rows(columns: &[(&str, u16, &[u8])]) -> Vec<u8> {
        let count = i32::try_from(columns.len()).unwrap();
        let mut body = [ROWS, Body::GLOBAL_TABLE, count].map(i32::to_be_bytes).concat();
        body.extend([string("shop"), string("kandra_migrations")].concat());
        for (name, cql_type, _) in columns {
            body.extend([string(name), cql_type.to_be_bytes().to_vec()].concat());
        }
        body.extend(1_i32.to_be_bytes());
        for (_, _, value) in columns {
            body.extend(i32::try_from(value.len()).unwrap().to_be_bytes());
            body.extend(*value);
        }
        frame(OPCODE_RESULT, &body)
    }

    fn verdicts(stream: &[u8], chunk: usize) -> Vec<Verdict> {
        let (mut tap, mut found) = (Tap::default(), Vec::new());
        for bytes in stream.chunks(chunk) {
            tap.feed(bytes, |verdict| found.push(verdict));
        }
        found
    }

    #[test]
    fn conditional_writes_are_told_from_other_answers_however_they_are_cut() {
        let cas = [&WRITE_TIMEOUT.to_be_bytes()[..], &string("timed out"), &[0; 10], &string("CAS")].concat();
        let simple =
            [&WRITE_TIMEOUT.to_be_bytes()[..], &string("timed out"), &[0; 10], &string("SIMPLE")].concat();
        let stream = [
            rows(&[("[applied]", 0x04, &[1])]),
            rows(&[("name", 0x0d, b"Ada")]),
            rows(&[("[applied]", 0x04, &[0]), ("op", 0x0c, &[7; 16])]),
            frame(0x02, &[]),
            frame(OPCODE_ERROR, &cas),
            frame(OPCODE_ERROR, &simple),
            rows(&[("[applied]", 0x04, &[0])]),
        ]
        .concat();
        let wanted = [Verdict::Applied, Verdict::Lost, Verdict::Unknown, Verdict::Lost];
        for chunk in [1, 7, stream.len()] {
            assert_eq!(verdicts(&stream, chunk), wanted);
        }
    }
}
