//! A migration that is a file.

use super::fault::Fault;
use super::mark::Setting;
use super::script::Script;
use super::{Found, checksum};

/// A migration that is a file, read and found well-formed.
#[derive(Debug)]
pub(crate) struct FileMigration {
    pub(crate) version: i64,
    pub(crate) name: String,
    /// The directory as it was named, and the file's name.
    pub(crate) path: String,
    pub(crate) checksum: String,
    pub(crate) accept: Vec<String>,
    pub(crate) out_of_order: bool,
    pub(crate) after_start: bool,
    pub(crate) script: Script,
}

impl FileMigration {
    /// From the texts of its files in `directory`.
    pub(crate) fn read(
        directory: &str,
        found: &Found,
        text: &str,
        undo: Option<&str>,
    ) -> Result<Self, Fault> {
        let path = format!("{directory}/{}", found.file);
        let mut script = Script::parse(&path, text)?;
        if let (Some(file), Some(text)) = (&found.undo, undo) {
            script = script.with_undo(&format!("{directory}/{file}"), text)?;
        }
        let accept = script.settings.iter().filter_map(|setting| match setting {
            Setting::Accept(checksum) => Some(checksum.clone()),
            Setting::OutOfOrder | Setting::AfterStart => None,
        });
        Ok(Self {
            version: found.version,
            name: found.name.clone(),
            path,
            checksum: checksum::of_script(&script),
            accept: accept.collect(),
            out_of_order: script.settings.contains(&Setting::OutOfOrder),
            after_start: script.settings.contains(&Setting::AfterStart),
            script,
        })
    }
}
