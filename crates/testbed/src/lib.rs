//! Hosts for tests and benchmarks: anonymous network namespaces joined by veth.
