//! What differs between the schema as the migrations left it and the one that is there.

use std::fmt;

pub use crate::schema::drift::Difference;
use crate::schema::drift::differences;
use crate::schema::script;
use crate::schema::shape::KeyspaceSchema;

/// What [`Runner::drift`](crate::Runner::drift) found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Drift {
    /// The version that was completed last: what it left is compared. `None` where none is.
    pub version: Option<i64>,
    /// Whether what it left was compared with what is there.
    pub compared: bool,
    /// Why nothing could be compared, or what is to be thought of.
    pub remark: Option<String>,
    /// What differs, object by object, in an order in which the statements can be sent.
    pub differences: Vec<Difference>,
}

impl Drift {
    pub(crate) fn without(remark: &str) -> Self {
        Self { version: None, compared: false, remark: Some(remark.to_owned()), differences: Vec::new() }
    }

    /// Compares the digest and the text that were stored with what is there now.
    pub(crate) fn between(
        stored: Option<(String, Option<String>)>,
        now: &KeyspaceSchema,
        keyspace: &str,
    ) -> Self {
        match stored {
            None => Self::without("no schema is stored with it: it was not completed by a run"),
            Some((_, Some(text))) => {
                let differences = differences(&text, &script::script(now), keyspace);
                Self { version: None, compared: true, remark: None, differences }
            }
            Some((digest, None)) if digest == script::record(now).digest => {
                Self { version: None, compared: true, remark: None, differences: Vec::new() }
            }
            Some((_, None)) => {
                let what =
                    "is not as it was; it was too long to be stored, so that no more can be told".to_owned();
                let object = format!("keyspace {keyspace}");
                let difference = Difference { object, what, cql: Vec::new() };
                Self { version: None, compared: true, remark: None, differences: vec![difference] }
            }
        }
    }

    /// Of what this version has left; another one is under way, perhaps.
    pub(crate) fn since(mut self, version: i64, under_way: Option<i64>) -> Self {
        self.version = Some(version);
        if let Some(version) = under_way {
            self.remark
                .get_or_insert_with(|| format!("version {version} is under way: what it did is among them"));
        }
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.what)?;
        for cql in &self.cql {
            let end = if cql.starts_with("--") { "" } else { ";" };
            write!(f, "\n  {cql}{end}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.version, self.differences.len()) {
            (Some(version), 0) if self.compared => write!(f, "the schema is as version {version} left it")?,
            (Some(version), count) if self.compared => {
                write!(f, "the schema is not as version {version} left it: {count} of its objects differ")?;
            }
            _ => f.write_str("the schema was not compared")?,
        }
        if let Some(remark) = &self.remark {
            write!(f, " ({remark})")?;
        }
        for difference in &self.differences {
            write!(f, "\n{difference}")?;
        }
        Ok(())
    }
}
