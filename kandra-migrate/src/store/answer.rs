//! What the ledger's answers say.

use scylla::value::CqlValue;

use super::{Answer, Rows, Slice, Tokens, definition};
use crate::driver::{Grid, Record, UnexpectedAnswer};
use crate::ledger::{Cells, Key, Kind, Value};

/// The rows of a slice, ascending.
pub(super) fn rows(grid: &Grid, slice: Slice) -> Result<Rows, UnexpectedAnswer> {
    let mut rows = Rows::default();
    for record in grid.rows() {
        let key = if slice == Slice::Frontier { Some(Key::HEAD) } else { key(&record) };
        // A kind that this version does not know is a newer one's.
        let Some(key) = key else { continue };
        rows.server_ms = rows.server_ms.max(record.int("server_ms"));
        if key == Key::HEAD {
            rows.op_written_us = record.int("op_us");
        }
        rows.rows.push((key, cells(key, &record)?));
    }
    if let Slice::Events { .. } = slice {
        rows.rows.reverse();
    }
    Ok(rows)
}

fn key(record: &Record<'_>) -> Option<Key> {
    let kind = i8::try_from(record.int("kind")?).ok().and_then(Kind::from_number)?;
    Some(Key { kind, version: record.int("version")?, n: record.int("n")? })
}

fn cells(key: Key, record: &Record<'_>) -> Result<Cells, UnexpectedAnswer> {
    let mut cells = Cells::new();
    for (name, value) in record.iter() {
        if let Some(column) = definition::columns_of(key.kind).iter().find(|column| **column == name) {
            let value =
                cell(value).ok_or_else(|| UnexpectedAnswer(format!("column {name} has {value:?}")))?;
            cells.set(column, value);
        }
    }
    match key.kind {
        Kind::Version => cells.set("pin_ts", record.int("name_us")),
        Kind::Step => cells.set("written_us", record.int("state_us")),
        _ => {}
    }
    Ok(cells)
}

fn cell(value: &CqlValue) -> Option<Value> {
    Some(match value {
        CqlValue::Text(text) => Value::Text(text.clone()),
        CqlValue::Uuid(uuid) => Value::Uuid(*uuid),
        CqlValue::Boolean(value) => Value::Bool(*value),
        CqlValue::Timestamp(value) => Value::Millis(value.0),
        CqlValue::TinyInt(value) => Value::Int((*value).into()),
        CqlValue::Int(value) => Value::Int((*value).into()),
        CqlValue::BigInt(value) => Value::Int(*value),
        _ => return None,
    })
}

/// What became of a conditional write to `scope`.
///
/// Cassandra answers `[applied]` alone where it was, and where it was not a row for each row that has a condition and
/// exists: with the condition's columns, for a batch with the primary key as well. `ScyllaDB` always answers the same
/// columns, and for a batch a row for each statement. The head is the row with its key, or the only row there is where
/// the answer has no key.
pub(super) fn answer(grid: &Grid, scope: &str) -> Result<Answer, UnexpectedAnswer> {
    let applied = grid.first().and_then(|record| record.bool("[applied]"));
    let applied =
        applied.ok_or_else(|| UnexpectedAnswer("a conditional write without [applied]".to_owned()))?;
    if applied {
        // What ScyllaDB returns then are the values before.
        return Ok(Answer { applied, head: None });
    }
    let keyed = grid.has("kind");
    let is_head = |record: &Record<'_>| {
        !keyed || (record.text("scope") == Some(scope) && key(record) == Some(Key::HEAD))
    };
    // A head always has an `op`: a row without it stands for a head that does not exist.
    let tokens = |record: Record<'_>| {
        record.uuid("op").map(|op| Tokens { op: Some(op), cmd_op: record.uuid("cmd_op") })
    };
    Ok(Answer { applied, head: grid.rows().filter(is_head).find_map(tokens) })
}

#[cfg(test)]
mod tests {
    use scylla::value::CqlTimestamp;
    use uuid::Uuid;

    use super::*;

    const OP: Uuid = Uuid::from_u128(1);
    const CMD_OP: Uuid = Uuid::from_u128(2);

    type Cell = Option<CqlValue>;

    const YES: Cell = Some(CqlValue::Boolean(true));
    const NO: Cell = Some(CqlValue::Boolean(false));

    fn text(value: &str) -> CqlValue {
        CqlValue::Text(value.to_owned())
    }

    fn uuid(value: Uuid) -> CqlValue {
        CqlValue::Uuid(value)
    }

    fn key_of(scope: &str, kind: i8, version: i64) -> Vec<Cell> {
        let number = |value| Some(CqlValue::BigInt(value));
        vec![
            text("shop").into(),
            text(scope).into(),
            Some(CqlValue::TinyInt(kind)),
            number(version),
            number(0),
        ]
    }

    const KEYED: [&str; 9] =
        ["[applied]", "keyspace_name", "scope", "kind", "version", "n", "cmd_op", "op", "name"];

    fn keyed(scope: &str, kind: i8, version: i64, cmd_op: Cell, op: Cell) -> Vec<Cell> {
        [vec![NO], key_of(scope, kind, version), vec![cmd_op, op, None]].concat()
    }

    fn head(answer: &Answer) -> Option<(Option<Uuid>, Option<Uuid>)> {
        answer.head.map(|tokens| (tokens.op, tokens.cmd_op))
    }

    fn rejected(grid: &Grid) -> Option<(Option<Uuid>, Option<Uuid>)> {
        let answer = answer(grid, "main").expect("an answer");
        assert!(!answer.applied);
        head(&answer)
    }

    #[test]
    fn applied() {
        let answer = answer(&Grid::of(&["[applied]"], [vec![YES]]), "main").expect("an answer");
        assert_eq!(answer, Answer { applied: true, head: None });
    }

    #[test]
    fn rejected_single_statement_has_the_condition_columns() {
        // The order of the columns is not that of the condition.
        let grid = Grid::of(&["[applied]", "cmd_op", "op"], [vec![NO, uuid(CMD_OP).into(), uuid(OP).into()]]);
        assert_eq!(rejected(&grid), Some((Some(OP), Some(CMD_OP))));
        let grid = Grid::of(&["[applied]", "op", "cmd_op"], [vec![NO, uuid(OP).into(), None]]);
        assert_eq!(rejected(&grid), Some((Some(OP), None)));
    }

    #[test]
    fn rejected_and_the_head_does_not_exist() {
        assert_eq!(rejected(&Grid::of(&["[applied]"], [vec![NO]])), None);
        // ScyllaDB: nulls.
        assert_eq!(rejected(&Grid::of(&["[applied]", "op", "cmd_op"], [vec![NO, None, None]])), None);
    }

    #[test]
    fn rejected_batch_names_the_rows_by_key() {
        let version_first = Grid::of(
            &KEYED,
            [
                keyed("@schema", 0, 0, None, uuid(Uuid::from_u128(9)).into()),
                keyed("main", 0, 0, uuid(CMD_OP).into(), uuid(OP).into()),
                keyed("main", 1, 7, None, None),
            ],
        );
        assert_eq!(rejected(&version_first), Some((Some(OP), Some(CMD_OP))));
    }

    #[test]
    fn rejected_batch_without_the_head() {
        let grid = Grid::of(&KEYED, [keyed("main", 1, 7, None, None)]);
        assert_eq!(rejected(&grid), None);
    }

    #[test]
    fn scylla_returns_a_row_for_each_statement() {
        let absent = [vec![NO], vec![None; 8]].concat();
        let grid = Grid::of(&KEYED, [keyed("main", 0, 0, None, uuid(OP).into()), absent.clone(), absent]);
        assert_eq!(rejected(&grid), Some((Some(OP), None)));

        let before = [vec![YES], key_of("main", 0, 0), vec![None, uuid(OP).into(), None]].concat();
        let applied = answer(&Grid::of(&KEYED, [before.clone(), before]), "main").expect("an answer");
        assert_eq!(applied, Answer { applied: true, head: None });
    }

    #[test]
    fn no_applied_is_no_answer() {
        assert!(answer(&Grid::of(&["[applied]"], []), "main").is_err());
        assert!(answer(&Grid::of(&["op"], [vec![uuid(OP).into()]]), "main").is_err());
        assert!(answer(&Grid::of(&["[applied]"], [vec![None]]), "main").is_err());
    }

    #[test]
    fn a_frontier_is_the_heads() {
        let cells = vec![text("k1:1").into(), text("SERIAL").into()];
        let grid = Grid::of(&["frontier", "serial_cl"], [cells]);
        let found = rows(&grid, Slice::Frontier).unwrap();
        let wanted = Cells::new().with("frontier", "k1:1").with("serial_cl", "SERIAL");
        assert_eq!(found.rows, [(Key::HEAD, wanted)]);
    }

    #[test]
    fn rows_of_versions() {
        let names = ["kind", "version", "n", "op", "name", "started_at", "server_ms", "op_us", "name_us"];
        let number = |value| Some(CqlValue::BigInt(value));
        let server_ms = Some(CqlValue::Timestamp(CqlTimestamp(99)));
        let head = vec![
            Some(CqlValue::TinyInt(0)),
            number(0),
            number(0),
            uuid(OP).into(),
            None,
            None,
            server_ms,
            number(5_000),
            None,
        ];
        let started = Some(CqlValue::Timestamp(CqlTimestamp(42)));
        let version = vec![
            Some(CqlValue::TinyInt(1)),
            number(7),
            number(0),
            None,
            text("users").into(),
            started,
            None,
            None,
            number(6),
        ];
        let unknown =
            vec![Some(CqlValue::TinyInt(9)), number(0), number(0), None, None, None, None, None, None];

        let rows = rows(&Grid::of(&names, [head, version, unknown]), Slice::Versions).expect("rows");

        assert_eq!((rows.server_ms, rows.op_written_us), (Some(99), Some(5_000)));
        let cells =
            Cells::new().with("name", "users").with("started_at", Value::Millis(42)).with("pin_ts", 6_i64);
        assert_eq!(rows.rows, vec![(Key::HEAD, Cells::new().with("op", OP)), (Key::version(7), cells)]);
    }

    #[test]
    fn events_ascend() {
        let event =
            |rev| vec![Some(CqlValue::TinyInt(3)), Some(CqlValue::BigInt(0)), Some(CqlValue::BigInt(rev))];
        let grid = Grid::of(&["kind", "version", "n"], [event(9), event(8)]);
        let rows = rows(&grid, Slice::Events { rows_max: 2 }).expect("rows");
        assert_eq!(rows.rows.iter().map(|(key, _)| key.n).collect::<Vec<_>>(), [8, 9]);
    }

    #[test]
    fn a_value_of_a_strange_type_is_an_error() {
        let record = vec![Some(CqlValue::TinyInt(0)), Some(CqlValue::BigInt(0)), Some(CqlValue::BigInt(0))];
        let grid =
            Grid::of(&["kind", "version", "n", "op"], [[record, vec![Some(CqlValue::Float(1.0))]].concat()]);
        assert!(rows(&grid, Slice::Head).is_err());
    }
}
