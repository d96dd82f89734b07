//! Endpoints on kernel sockets.

pub(crate) mod address;
pub(crate) mod ancillary;
pub(crate) mod control_messages;
pub(crate) mod datagram;
pub(crate) mod datagram_buffer;
pub(crate) mod extended_error;
pub(crate) mod icmp_errors;
pub(crate) mod receiver;
pub(crate) mod recv_batch;
pub(crate) mod send_batch;
pub(crate) mod send_buffer;
pub(crate) mod sender;
pub(crate) mod socket_option;
pub(crate) mod stream_buffer;
pub(crate) mod tcp_stream;
pub(crate) mod udp_socket;
