//! A CME MDP 3.0 market data channel, without IO.
