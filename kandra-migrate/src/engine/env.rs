//! What a run stands on.

use super::settings::Settings;
use crate::clock::Dice;

/// The store, the clock, chance and the settings of a run.
#[derive(Debug)]
pub struct Env<'a, S, C> {
    /// Where the ledger is kept.
    pub store: &'a S,
    /// Time.
    pub clock: &'a C,
    /// Jitter and nonces.
    pub dice: &'a Dice,
    /// Times and policies.
    pub settings: &'a Settings,
}

impl<S, C> Clone for Env<'_, S, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, C> Copy for Env<'_, S, C> {}
