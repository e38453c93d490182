pub(crate) fn is_from_server(_: &(dyn std::error::Error + 'static)) -> bool {
    false
}
