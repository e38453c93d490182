//! Values of the ledger as CQL literals: what is sent carries its values in its text, so that it is one request without a PREPARE.

use crate::cql::literal;
use crate::ledger::Value;

/// A value of a column.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Int(number) | Value::Millis(number) => number.to_string(),
        Value::Text(value) => literal(value),
        Value::Uuid(uuid) => uuid.hyphenated().to_string(),
        Value::Bool(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn values() {
        for (given, literal) in [
            (Value::Null, "null"),
            (Value::Int(i64::MIN), "-9223372036854775808"),
            (Value::Millis(1_700_000_000_000), "1700000000000"),
            (Value::Text("null".to_owned()), "'null'"),
            (Value::Text(String::new()), "''"),
            (Value::Uuid(Uuid::nil()), "00000000-0000-0000-0000-000000000000"),
            (Value::Bool(true), "true"),
            (Value::Bool(false), "false"),
        ] {
            assert_eq!(value(&given), literal);
        }
    }
}
