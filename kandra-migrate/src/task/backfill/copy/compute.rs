//! A task's function that computes columns, whatever its types are.

use std::fmt;
use std::sync::Arc;

use scylla::deserialize::TypeCheckError;
use scylla::deserialize::row::DeserializeRow;
use scylla::frame::response::result::ColumnSpec;
use scylla::serialize::row::SerializeRow;

use crate::task::TaskError;
use crate::task::backfill::cells::{Cell, decode, encode};

type Specs = [ColumnSpec<'static>];
type Function = dyn Fn(&Specs, &[Option<Vec<u8>>], &Specs) -> Result<Vec<Cell>, TaskError> + Send + Sync;

#[derive(Clone)]
pub(super) struct Compute {
    check: fn(&Specs) -> Result<(), TypeCheckError>,
    function: Arc<Function>,
}

impl Compute {
    pub(super) fn new<T, V, F>(work: F) -> Self
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
        V: SerializeRow,
        F: Fn(T) -> Result<V, TaskError> + Send + Sync + 'static,
    {
        Self {
            check: |specs| T::type_check(specs),
            function: Arc::new(move |from, values, into| encode(into, &work(decode(from, values)?)?)),
        }
    }

    /// Whether the function takes such columns.
    pub(super) fn check(&self, from: &Specs) -> Result<(), TypeCheckError> {
        (self.check)(from)
    }

    pub(super) fn call(
        &self,
        from: &Specs,
        values: &[Option<Vec<u8>>],
        into: &Specs,
    ) -> Result<Vec<Cell>, TaskError> {
        (self.function)(from, values, into)
    }
}

impl fmt::Debug for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compute")
    }
}
