//! Matching engine, market data publisher and iLink 3 gateway.
