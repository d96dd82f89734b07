//! An iLink 3 client that shares no code with the workspace: neither codecs nor session nor
//! sockets.
//!
//! Every offset was copied by hand from CME's message tables. So a layout error in the codecs,
//! which both sides share, is detected.

#![allow(dead_code, reason = "each test program uses its part")]

use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const SYSTEM: [&str; 3] = ["Stranger", "2", "Vendor"];
/// KeepAliveInterval in milliseconds.
const KEEP_ALIVE: u16 = 30_000;
/// The time after which a silent gateway has failed.
const TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) const NULL_PRICE: i64 = i64::MAX;

/// PartyDetailID of the on-demand party details.
pub(crate) const ON_DEMAND_ACCOUNT: &[u8; 20] = b"ACCOUNT-1\0\0\0\0\0\0\0\0\0\0\0";

/// The identity that logs on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) access_key: &'static str,
    pub(crate) session: &'static str,
    pub(crate) firm: &'static str,
}

/// A message's block, written field by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block(pub(crate) Vec<u8>);

impl Block {
    pub(crate) fn new(length: usize) -> Self {
        Self(vec![0; length])
    }

    pub(crate) fn bytes(mut self, offset: usize, bytes: &[u8]) -> Self {
        self.0[offset..][..bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn u8(self, offset: usize, value: u8) -> Self {
        self.bytes(offset, &[value])
    }

    pub(crate) fn u16(self, offset: usize, value: u16) -> Self {
        self.bytes(offset, &value.to_le_bytes())
    }

    pub(crate) fn u32(self, offset: usize, value: u32) -> Self {
        self.bytes(offset, &value.to_le_bytes())
    }

    pub(crate) fn u64(self, offset: usize, value: u64) -> Self {
        self.bytes(offset, &value.to_le_bytes())
    }

    pub(crate) fn i64(self, offset: usize, value: i64) -> Self {
        self.bytes(offset, &value.to_le_bytes())
    }

    pub(crate) fn text(self, offset: usize, text: &str) -> Self {
        self.bytes(offset, text.as_bytes())
    }

    /// Writes `count` bytes of ones, the null values of unsigned fields.
    pub(crate) fn ones(self, offset: usize, count: usize) -> Self {
        self.bytes(offset, &vec![0xFF; count])
    }
}

/// A message of the gateway without its framing header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) template: u16,
    pub(crate) version: u16,
    pub(crate) block: Vec<u8>,
    /// The groups and the variable-length data.
    pub(crate) rest: Vec<u8>,
}

impl Message {
    pub(crate) fn u8(&self, offset: usize) -> u8 {
        self.block[offset]
    }

    pub(crate) fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.block[offset..][..2].try_into().unwrap())
    }

    pub(crate) fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.block[offset..][..4].try_into().unwrap())
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.block[offset..][..8].try_into().unwrap())
    }

    /// Checks the block. The ranges in `unpredictable` are copied to `expected` and must not be
    /// null.
    #[track_caller]
    pub(crate) fn assert_block(&self, expected: Block, unpredictable: &[(usize, usize)]) {
        let mut expected = expected.0;
        for &(offset, length) in unpredictable {
            let received = &self.block[offset..][..length];
            assert!(
                received.iter().any(|&byte| byte != 0 && byte != 0xFF),
                "the field at {offset} is null"
            );
            expected[offset..][..length].copy_from_slice(received);
        }
        let wrong: Vec<usize> = (0..expected.len().max(self.block.len()))
            .filter(|&place| expected.get(place) != self.block.get(place))
            .collect();
        assert!(wrong.is_empty(), "{} differs at {wrong:?}: {self:?}", self.template);
    }
}

/// A connection and its session.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    /// The version of schema 8 that the client writes.
    version: u16,
    account: Account,
    uuid: u64,
    /// SeqNum of the next business message.
    pub(crate) next: u32,
}

impl Client {
    pub(crate) fn connect(
        gateway: SocketAddrV4,
        account: Account,
        version: u16,
        uuid: u64,
    ) -> Self {
        let stream = TcpStream::connect(gateway).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self { stream, version, account, uuid, next: 1 }
    }

    /// Builds a frame: framing header (total length, 0xCAFE), SBE header, block, and the rest.
    fn frame(&self, template: u16, block: &Block, rest: &[u8]) -> Vec<u8> {
        let length = 12 + block.0.len() + rest.len();
        let words = [length as u16, 0xCAFE, block.0.len() as u16, template, 8, self.version];
        let mut frame: Vec<u8> = words.into_iter().flat_map(u16::to_le_bytes).collect();
        frame.extend_from_slice(&block.0);
        frame.extend_from_slice(rest);
        frame
    }

    fn send(&mut self, template: u16, block: &Block, rest: &[u8]) {
        let frame = self.frame(template, block, rest);
        // In two chunks, as a network may deliver it.
        let (head, tail) = frame.split_at(7);
        self.stream.write_all(head).unwrap();
        self.stream.write_all(tail).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Message {
        let mut head = [0; 12];
        self.stream.read_exact(&mut head).unwrap();
        let word = |place: usize| u16::from_le_bytes([head[2 * place], head[2 * place + 1]]);
        assert_eq!((word(1), word(4)), (0xCAFE, 8), "wrong encoding type or schema");
        let mut block = vec![0; usize::from(word(0)) - head.len()];
        self.stream.read_exact(&mut block).unwrap();
        let rest = block.split_off(usize::from(word(2)));
        Message { template: word(3), version: word(5), block, rest }
    }

    /// Sends Negotiate500 and returns the answer.
    pub(crate) fn negotiate(&mut self, timestamp: u64) -> Message {
        self.negotiate_signed_by(KEY, timestamp)
    }

    /// Sends Negotiate500 signed by `key` and returns the answer.
    pub(crate) fn negotiate_signed_by(&mut self, key: &str, timestamp: u64) -> Message {
        let (uuid, Account { access_key, session, firm }) = (self.uuid, self.account);
        let signature = sign(key, &format!("{timestamp}\n{uuid}\n{session}\n{firm}"));
        let block = Block::new(76)
            .bytes(0, &signature)
            .text(32, access_key)
            .u64(52, uuid)
            .u64(60, timestamp)
            .text(68, session)
            .text(71, firm);
        self.send(500, &block, &[0, 0]);
        self.receive()
    }

    /// Sends Establish503 and returns the answer.
    pub(crate) fn establish(&mut self, timestamp: u64) -> Message {
        let (uuid, next) = (self.uuid, self.next);
        let Account { access_key, session, firm } = self.account;
        let [name, version, vendor] = SYSTEM;
        let who = format!("{timestamp}\n{uuid}\n{session}\n{firm}");
        let what = format!("{name}\n{version}\n{vendor}\n{next}\n{KEEP_ALIVE}");
        let signature = sign(KEY, &format!("{who}\n{what}"));
        let block = Block::new(132)
            .bytes(0, &signature)
            .text(32, access_key)
            .text(52, name)
            .text(82, version)
            .text(92, vendor)
            .u64(102, uuid)
            .u64(110, timestamp)
            .u32(118, next)
            .text(122, session)
            .text(125, firm)
            .u16(130, KEEP_ALIVE);
        self.send(503, &block, &[0, 0]);
        self.receive()
    }

    /// Sends NewOrderSingle514: a limit order to buy, good for the day.
    pub(crate) fn buy(&mut self, price: i64, quantity: u32) {
        self.buy_often(price, quantity, 1);
    }

    /// Sends `times` such orders in one write.
    pub(crate) fn buy_often(&mut self, price: i64, quantity: u32, times: u32) {
        let mut frames = Vec::new();
        for _ in 0..times {
            frames.extend_from_slice(&self.frame(514, &self.order(price, quantity), &[]));
            self.next += 1;
        }
        self.stream.write_all(&frames).unwrap();
    }

    fn order(&self, price: i64, quantity: u32) -> Block {
        let block = Block::new(if self.version < 6 { 116 } else { 132 })
            .i64(0, price)
            .u32(8, quantity)
            .u32(12, 1_001)
            .u8(16, 1)
            .u32(17, self.next)
            .text(21, "STRANGER")
            .text(41, "BUY-1")
            .u64(61, 1)
            .u64(69, 71)
            .u64(77, 1)
            .i64(85, NULL_PRICE)
            .text(93, "GB")
            // MinQty, DisplayQty, ExpireDate.
            .ones(98, 4)
            .u32(102, 1)
            .ones(106, 2)
            .u8(108, b'2')
            .u8(109, 0)
            .u8(110, 1)
            // ExecInst and ExecutionMode are 0; LiquidityFlag, ManagedOrder, ShortSaleType.
            .ones(113, 3);
        match self.version {
            0..6 => block,
            _ => block.i64(116, NULL_PRICE).i64(124, NULL_PRICE),
        }
    }

    /// Sends PartyDetailsDefinitionRequest518 on demand (PartyDetailsListReqID 0) with one customer
    /// account, then an order with that id.
    pub(crate) fn buy_on_demand(&mut self, price: i64, quantity: u32) {
        let details = Block::new(147)
            .u64(0, 0)
            .u64(8, 1)
            .u8(16, b'A')
            .u32(17, self.next)
            .text(21, "MEMO")
            .text(96, "AVERAGE")
            .u64(116, 4_242)
            .u8(124, b'S')
            .u8(125, 2)
            .u8(126, 1)
            .u8(127, b'N')
            .u8(128, 3)
            .u8(129, 1)
            .u8(130, b'Y')
            .u64(131, 77)
            .u64(139, 78);
        let parties = [&[22, 0, 1][..], ON_DEMAND_ACCOUNT, &[24, 0], &[2, 0, 1, 2, 12]].concat();
        self.next += 1;
        self.send(518, &details, &parties);
        let order = self.order(price, quantity).u64(61, 0);
        self.next += 1;
        self.send(514, &order, &[]);
    }

    /// Sends OrderCancelRequest516 for this order.
    pub(crate) fn cancel(&mut self, order: u64) {
        let block = Block::new(if self.version < 8 { 88 } else { 96 })
            .u64(0, order)
            .u64(8, 1)
            .u8(16, 1)
            .u32(17, self.next)
            .text(21, "STRANGER")
            .text(41, "CANCEL-1")
            .u64(61, 72)
            .u64(69, 1)
            .text(77, "GB")
            .u32(82, 1_001)
            .u8(86, 1)
            .u8(87, 0xFF);
        let block = if self.version < 8 { block } else { block.text(88, "OWNER") };
        self.next += 1;
        self.send(516, &block, &[]);
    }

    /// Sends RetransmitRequest508 for the current UUID.
    pub(crate) fn request_retransmission(&mut self, timestamp: u64, from: u32, count: u16) {
        let block = Block::new(30)
            .u64(0, self.uuid)
            .ones(8, 8)
            .u64(16, timestamp)
            .u32(24, from)
            .u16(28, count);
        self.send(508, &block, &[]);
    }

    /// Sends a Sequence506 that requests an answer.
    pub(crate) fn ping(&mut self) {
        let block = Block::new(14).u64(0, self.uuid).u32(8, self.next).u8(12, 1).u8(13, 1);
        self.send(506, &block, &[]);
    }

    /// Sends Terminate507 and returns the answer, after which the connection ends.
    pub(crate) fn leave(&mut self, timestamp: u64) -> Message {
        let block = Block::new(67).u64(48, self.uuid).u64(56, timestamp).u8(66, 0xFF);
        self.send(507, &block, &[]);
        let answer = self.receive();
        assert_eq!(self.stream.read(&mut [0; 1]).unwrap(), 0, "bytes after the Terminate");
        answer
    }
}

fn sign(key: &str, canonical: &str) -> [u8; 32] {
    let key = URL_SAFE_NO_PAD.decode(key).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(canonical.as_bytes());
    mac.finalize().into_bytes().into()
}
