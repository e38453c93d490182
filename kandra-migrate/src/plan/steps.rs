//! A plan, compiled: one step after the other, each with what is going to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat { Probe, Idempotent, Once }
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind { Schema, Data, Code }
pub(crate) struct Step;
pub(crate) struct Steps;
pub(crate) enum Work {}
