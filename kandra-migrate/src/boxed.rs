//! Futures on the heap, of a type that ends with itself.

use std::pin::Pin;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The compiler follows futures into one another, for their size and for whether they are `Send`, up to the
/// `recursion_limit` of the crate that awaits them: of an application, which has layers of its own. It does not look into
/// this one.
pub(crate) fn boxed<'a, T>(future: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}
