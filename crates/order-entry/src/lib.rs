//! An iLink 3 session on an endpoint, with its journal.
