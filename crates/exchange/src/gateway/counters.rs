//! What has happened at the gateway.

/// What has happened at the gateway, counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayCounters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections refused because every place was taken.
    pub refused_connections: u64,
    /// Whole frames read.
    pub frames: u64,
    /// Framing headers of an impossible length or another encoding.
    pub bad_frames: u64,
    /// Frames of another schema, of a template that clients do not send, or shorter than they say.
    pub undecodable: u64,
    /// NegotiationResponses sent.
    pub negotiated: u64,
    /// EstablishmentAcks sent.
    pub established: u64,
    /// NegotiationRejects and EstablishmentRejects sent.
    pub logon_rejects: u64,
    /// Terminates sent for an error of the client.
    pub terminates: u64,
    /// Sequences with a lapse sent: a client was silent for an interval.
    pub lapses: u64,
    /// NotApplieds sent.
    pub not_applied: u64,
    /// Gaps that a client filled by a Sequence.
    pub gap_fills: u64,
    /// RetransmitRequests refused.
    pub retransmit_rejects: u64,
    /// NewOrderSingles read in sequence.
    pub orders: u64,
    /// ExecutionReportNews sent.
    pub acknowledgements: u64,
    /// OrderCancelRequests read in sequence.
    pub cancels: u64,
    /// ExecutionReportCancels sent.
    pub cancelled: u64,
    /// BusinessRejects sent.
    pub business_rejects: u64,
    /// OrderCancelRejects sent.
    pub cancel_rejects: u64,
    /// Trades reported to sessions.
    pub fills: u64,
    /// Trades of sessions that were not there to be told.
    pub unreported_fills: u64,
}
