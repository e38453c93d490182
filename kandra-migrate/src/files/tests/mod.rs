mod checksum;
mod listing;
mod script;
