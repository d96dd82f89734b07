//! Every memory mapping of the house behind a safe interface.
