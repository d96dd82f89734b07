//! Datagram and stream sockets behind one pair of traits.
