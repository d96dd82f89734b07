//! CME market data channels on endpoints.
