//! A CME iLink 3 order entry session, without IO.
