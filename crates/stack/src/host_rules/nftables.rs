//! Chains and rules of nftables (linux/netfilter/nf_tables.h).

use std::collections::{HashMap, HashSet};
use std::io;

use netlink_sys::protocols::NETLINK_NETFILTER;

use super::Found;
use super::request::{NETFILTER_HEADER, Request, number, text};
use crate::netlink::{RequestSocket, attributes};

/// `NFNL_SUBSYS_NFTABLES`, with `NFT_MSG_NEWCHAIN`, `_GETCHAIN`, `_NEWRULE`, `_GETRULE` and
/// `_GETGEN`.
const SUBSYSTEM: u16 = 10 << 8;
const NEW_CHAIN: u16 = SUBSYSTEM | 3;
const GET_CHAIN: u16 = SUBSYSTEM | 4;
const NEW_RULE: u16 = SUBSYSTEM | 6;
const GET_RULE: u16 = SUBSYSTEM | 7;
const GET_GENERATION: u16 = SUBSYSTEM | 16;
/// `NFPROTO_INET`, `_IPV4`, `_NETDEV`, `_IPV6`.
const INET: u8 = 1;
const IPV4: u8 = 2;
const NETDEV: u8 = 5;
const IPV6: u8 = 10;
/// `NF_INET_FORWARD`: the hook that packets of this host do not pass.
const FORWARD: u32 = 2;
/// Codes of a verdict: `NF_DROP`, `NF_ACCEPT`, and `NFT_CONTINUE` to `NFT_RETURN` as they are.
const ACCEPT: i32 = 1;
const BREAK: i32 = -2;
const CONTINUE: i32 = -1;
const JUMP: i32 = -3;
const GOTO: i32 = -4;
const RETURN: i32 = -5;
/// Expressions that compare or count.
const HARMLESS: [&str; 18] = [
    "bitwise",
    "byteorder",
    "cmp",
    "counter",
    "ct",
    "exthdr",
    "fib",
    "hash",
    "log",
    "lookup",
    "match",
    "meta",
    "numgen",
    "osf",
    "payload",
    "range",
    "rt",
    "socket",
];
/// Expressions that translate addresses, and targets of iptables that do.
const TRANSLATIONS: [&str; 3] = ["masq", "nat", "redir"];
const TARGETS: [&str; 5] = ["DNAT", "MASQUERADE", "NETMAP", "REDIRECT", "SNAT"];

/// A chain of nftables that packets pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// The family of its table, `NFPROTO_*`.
    pub family: u8,
    /// The name of its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// `filter`, `nat` or `route`; empty for a chain that packets pass only if a rule jumps to it.
    pub kind: String,
    /// The hook, `NF_INET_*`.
    pub hook: Option<u32>,
    /// The number of its rules.
    pub rules: u32,
    /// `true` if packets without a matching rule are dropped.
    pub drops: bool,
}

/// What a rule does to packets that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Translates,
    Restricts,
}

/// The identity of a chain: the family and name of its table, and its own name.
type ChainKey = (u8, String, String);

#[derive(Debug, Default)]
struct Rule {
    effect: Option<Effect>,
    /// The names of chains that it continues with.
    jumps: Vec<String>,
}

/// Returns the number of the last change; `None` on a kernel without nftables.
pub(super) fn generation(socket: &mut RequestSocket) -> io::Result<Option<u32>> {
    let request = Request { kind: GET_GENERATION, payload: vec![0; NETFILTER_HEADER] };
    let answer = socket.request(request, |_, payload| {
        // NFTA_GEN_ID
        let mut found = attributes(payload.get(NETFILTER_HEADER..)?);
        found.find_map(|(kind, value)| (kind == 1).then(|| number(value))?)
    });
    match answer {
        Err(error) if is_missing(&error) => Ok(None),
        answer => answer.map(Some),
    }
}

/// EINVAL and EPROTONOSUPPORT: no nf_tables, no nfnetlink.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPROTONOSUPPORT))
}

/// Returns the chains of nftables that packets pass; none if the kernel has no nftables.
///
/// # Errors
/// The kernel's: `PermissionDenied` without `CAP_NET_ADMIN`.
pub fn chains() -> io::Result<Vec<Chain>> {
    let all = RequestSocket::open(NETLINK_NETFILTER).and_then(|mut it| all_chains(&mut it));
    match all {
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        all => Ok(all?.into_iter().filter(|chain| chain.hook.is_some()).collect()),
    }
}

fn all_chains(socket: &mut RequestSocket) -> io::Result<Vec<Chain>> {
    let request = Request { kind: GET_CHAIN, payload: vec![0; NETFILTER_HEADER] };
    socket.dump(&request, |kind, payload| {
        (kind == NEW_CHAIN).then(|| Chain::parse(payload)).flatten()
    })
}

/// Returns what restricts or translates packets of this host.
pub(super) fn found(socket: &mut RequestSocket) -> io::Result<Found> {
    let request = Request { kind: GET_RULE, payload: vec![0; NETFILTER_HEADER] };
    let parse = |kind, payload: &[u8]| (kind == NEW_RULE).then(|| parse_rule(payload)).flatten();
    let chains = match all_chains(socket) {
        Err(error) if is_missing(&error) => return Ok(Found::default()),
        chains => chains?,
    };
    let mut rules: HashMap<ChainKey, Vec<Rule>> = HashMap::new();
    for (chain, rule) in socket.dump(&request, parse)? {
        rules.entry(chain).or_default().push(rule);
    }
    let mut found = Found::default();
    for chain in &chains {
        let Some(families) = chain.families() else { continue };
        let effects = effects(chain.key(), &rules);
        let text = || format!("nftables (table {}, chain {})", chain.table, chain.name);
        for family in families {
            if chain.drops || effects.contains(&Some(Effect::Restricts)) {
                found.restricting[*family].get_or_insert_with(text);
            }
            if effects.contains(&Some(Effect::Translates)) {
                found.translating[*family].get_or_insert_with(text);
            }
        }
    }
    Ok(found)
}

/// Returns the effects of a chain's rules, and of those that they continue with.
fn effects(start: ChainKey, rules: &HashMap<ChainKey, Vec<Rule>>) -> Vec<Option<Effect>> {
    let (mut effects, mut seen, mut next) = (Vec::new(), HashSet::new(), vec![start]);
    while let Some(key) = next.pop() {
        for rule in rules.get(&key).into_iter().flatten() {
            effects.push(rule.effect);
            let jumps = rule.jumps.iter().map(|name| (key.0, key.1.clone(), name.clone()));
            next.extend(jumps.filter(|key| seen.insert(key.clone())));
        }
    }
    effects
}

impl Chain {
    fn key(&self) -> ChainKey {
        (self.family, self.table.clone(), self.name.clone())
    }

    /// Returns the indices of the families whose packets pass the chain; `None` if packets of this
    /// host do not.
    fn families(&self) -> Option<&'static [usize]> {
        let hook = self.hook?;
        match self.family {
            INET if hook != FORWARD => Some(&[0, 1]),
            IPV4 if hook != FORWARD => Some(&[0]),
            IPV6 if hook != FORWARD => Some(&[1]),
            NETDEV => Some(&[0, 1]),
            _ => None,
        }
    }

    fn parse(payload: &[u8]) -> Option<Self> {
        let mut chain = Self { family: *payload.first()?, ..Self::default() };
        for (kind, value) in attributes(payload.get(NETFILTER_HEADER..)?) {
            match kind {
                // NFTA_CHAIN_TABLE, _NAME, _HOOK with NFTA_HOOK_HOOKNUM, _POLICY, _USE, _TYPE.
                1 => chain.table = text(value),
                3 => chain.name = text(value),
                4 => {
                    let hook = attributes(value).find(|(kind, _)| *kind == 1);
                    chain.hook = Some(hook.and_then(|(_, value)| number(value)).unwrap_or(0));
                }
                5 => chain.drops = number(value) == Some(0),
                6 => chain.rules = number(value).unwrap_or(0),
                7 => chain.kind = text(value),
                _ => {}
            }
        }
        Some(chain)
    }
}

fn parse_rule(payload: &[u8]) -> Option<(ChainKey, Rule)> {
    let (mut table, mut chain, mut rule) = (String::new(), String::new(), Rule::default());
    for (kind, value) in attributes(payload.get(NETFILTER_HEADER..)?) {
        match kind {
            // NFTA_RULE_TABLE, _CHAIN, _EXPRESSIONS.
            1 => table = text(value),
            2 => chain = text(value),
            4 => attributes(value).for_each(|(_, expression)| rule.add(expression)),
            _ => {}
        }
    }
    Some(((*payload.first()?, table, chain), rule))
}

impl Rule {
    /// Adds what an expression does.
    fn add(&mut self, expression: &[u8]) {
        let find = |wanted: u16| {
            let mut all = attributes(expression);
            all.find_map(|(kind, value)| (kind == wanted).then_some(value)).unwrap_or_default()
        };
        // NFTA_EXPR_NAME, NFTA_EXPR_DATA.
        let (name, data) = (text(find(1)), find(2));
        let has = |wanted: u16| attributes(data).any(|(kind, _)| kind == wanted);
        let effect = match name.as_str() {
            "immediate" => self.add_verdict(data),
            // NFTA_META_SREG, NFTA_CT_SREG, NFTA_PAYLOAD_SREG: the packet is changed.
            "meta" if has(3) => Some(Effect::Restricts),
            "ct" if has(4) => Some(Effect::Restricts),
            "payload" if has(5) => Some(Effect::Restricts),
            // NFTA_LOOKUP_DREG: a map, perhaps of verdicts.
            "lookup" if has(3) => Some(Effect::Restricts),
            // NFTA_TARGET_NAME
            "target" => {
                let mut all = attributes(data);
                let target = all.find_map(|(kind, value)| (kind == 1).then(|| text(value)));
                let translates = target.is_some_and(|name| TARGETS.contains(&name.as_str()));
                Some(if translates { Effect::Translates } else { Effect::Restricts })
            }
            name if TRANSLATIONS.contains(&name) => Some(Effect::Translates),
            name if HARMLESS.contains(&name) => None,
            _ => Some(Effect::Restricts),
        };
        self.effect = effect.or(self.effect);
    }

    /// Adds the verdict of an immediate value, if it is one.
    fn add_verdict(&mut self, data: &[u8]) -> Option<Effect> {
        let find = |bytes, wanted: u16| {
            attributes(bytes).find_map(|(kind, value)| (kind == wanted).then_some(value))
        };
        // NFTA_IMMEDIATE_DATA, NFTA_DATA_VERDICT, NFTA_VERDICT_CODE and NFTA_VERDICT_CHAIN.
        let verdict = find(find(data, 2)?, 2)?;
        match number(find(verdict, 1)?)?.cast_signed() {
            ACCEPT | CONTINUE | BREAK | RETURN => None,
            JUMP | GOTO => {
                self.jumps.extend(find(verdict, 2).map(text));
                None
            }
            _ => Some(Effect::Restricts),
        }
    }
}
