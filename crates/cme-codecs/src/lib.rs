//! Generated codecs for CME MDP 3.0 and iLink 3.
