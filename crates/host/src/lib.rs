//! Clocks, cores and facts about this host.
