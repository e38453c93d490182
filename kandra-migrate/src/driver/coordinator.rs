//! Nodes by the names that the journal has of them.

use std::net::SocketAddr;

use scylla::cluster::Node;
use uuid::Uuid;

use crate::port::Coordinator;

impl Coordinator {
    pub(crate) fn of(node: &Node) -> Self {
        Self(format!("{} {}", node.host_id, node.address))
    }

    /// The node's own id.
    pub(crate) fn host_id(&self) -> Option<Uuid> {
        self.0.split(' ').next()?.parse().ok()
    }

    /// Where it was when it was chosen.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.0.split(' ').nth(1)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_is_found_again_by_its_name() {
        let coordinator = Coordinator("00000000-0000-0000-0000-000000000001 [::1]:9042".to_owned());
        assert_eq!(coordinator.host_id(), Some(Uuid::from_u128(1)));
        assert_eq!(coordinator.address(), "[::1]:9042".parse().ok());
        let nonsense = Coordinator("nonsense".to_owned());
        assert_eq!((nonsense.host_id(), nonsense.address()), (None, None));
    }
}
