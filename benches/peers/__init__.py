"""One long-lived process a library, each answering the protocol of :mod:`benches.peers.protocol`."""
