"""Writes captures with known latencies and losses, without any code of Hairpin.

Run with a folder. Each case is one or more files; `cases.json` in the folder has what they contain:
counts, and for each distribution its count, minimum, maximum, mean and nearest-rank percentiles.
Layouts are CME's (MDP 3.0 schema 1, iLink 3 schema 8 version 9), tcpdump.org's, Endace's, and those
of the trailers of Metamako and Exablaze.
"""

import gzip
import json
import random
import struct
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
CLIENT, GATEWAY = ("10.0.0.1", 40_000), ("10.0.0.2", 9_000)
GROUPS = {1: [("239.1.1.1", 14_310), ("239.1.2.1", 14_310)],
          2: [("239.1.1.2", 14_311), ("239.1.2.2", 14_311)]}


# Frames.

def address(text):
    return bytes(int(part) for part in text.split("."))


def ethernet(protocol, source, destination, payload):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0,
                         address(source), address(destination))
    frame = bytes(6) + bytes([2] * 6) + b"\x08\x00" + header + payload
    return frame + bytes(max(0, 60 - len(frame)))


def datagram(group, payload):
    udp = struct.pack(">HHHH", 5_000, group[1], 8 + len(payload), 0)
    return ethernet(17, "10.0.0.9", group[0], udp + payload)


def segment(source, destination, sequence, payload, flags=0x18):
    tcp = struct.pack(">HHIIBBHHH", source[1], destination[1], sequence & 0xffffffff, 0, 0x50, flags,
                      8_192, 0, 0)
    return ethernet(6, source[0], destination[0], tcp + payload)


# Messages.

def market_packet(channel, number, sent, messages):
    body = b""
    for index in range(messages):
        block = struct.pack("<QBH", sent * 10 + channel * 3 + index, 0, 0)
        message = struct.pack("<HHHH", 11, 46, 1, 13) + block + struct.pack("<HB", 32, 0) + bytes(8)
        body += struct.pack("<H", 2 + len(message)) + message
    return struct.pack("<IQ", number, sent) + body


def frame_of(template, block, rest=b""):
    message = struct.pack("<HHHH", len(block), template, 8, 9) + bytes(block) + rest
    return struct.pack("<HH", 4 + len(message), 0xcafe) + message


def put(block, offset, value):
    block[offset : offset + len(value)] = value


def establish():
    block = bytearray(132)
    put(block, 102, struct.pack("<Q", 7))
    put(block, 122, b"ABC")
    put(block, 125, b"DEFGH")
    return frame_of(503, block, b"\0\0")


# Template, length of the block, offset of ClOrdID, of SendingTimeEpoch.
REQUESTS = {"order": (514, 132, 41, 77), "replace": (515, 133, 41, 93), "cancel": (516, 96, 41, 69)}
ANSWERS = {"order to ack": (522, 226, 72, 132), "order to fill": (525, 293, 72, 140),
           "order to reject": (523, 483, 328, 388), "replace to ack": (531, 226, 72, 132),
           "replace to reject": (536, 409, 328, 372), "cancel to ack": (534, 247, 72, 132),
           "cancel to reject": (535, 409, 328, 372)}
PAIRED = {"order to ack": "order", "order to reject": "order", "replace to ack": "replace",
          "replace to reject": "replace", "cancel to ack": "cancel", "cancel to reject": "cancel"}


def request(kind, number, identifier, sent):
    template, length, id_offset, time_offset = REQUESTS[kind]
    block = bytearray(length)
    put(block, 17, struct.pack("<I", number))
    put(block, id_offset, identifier)
    put(block, time_offset, struct.pack("<Q", sent))
    return frame_of(template, block)


def quote(number, quote_id, sent):
    block = bytearray(123)
    put(block, 8, struct.pack("<Q", sent))
    put(block, 17, struct.pack("<I", number))
    put(block, 54, struct.pack("<I", quote_id))
    return frame_of(517, block, struct.pack("<HB", 38, 0))


def quote_ack(number, quote_id, sent):
    block = bytearray(352)
    put(block, 0, struct.pack("<IQ", number, 7))
    put(block, 304, struct.pack("<Q", sent))
    put(block, 325, struct.pack("<I", quote_id))
    return frame_of(545, block, struct.pack("<HB", 11, 0))


def answer(span, number, identifier, sent):
    template, length, id_offset, time_offset = ANSWERS[span]
    block = bytearray(length)
    put(block, 0, struct.pack("<IQ", number, 7))
    put(block, id_offset, identifier)
    put(block, time_offset, struct.pack("<Q", sent))
    rest = struct.pack("<HBHB", 15, 0, 41, 0) if template == 525 else b""
    return frame_of(template, block, rest)


def business_reject(number, reference, sent):
    block = bytearray(330)
    put(block, 0, struct.pack("<IQ", number, 7))
    put(block, 296, struct.pack("<Q", sent))
    put(block, 317, struct.pack("<I", reference))
    return frame_of(521, block)


# What happens: packets as (time, frame), and figures.

class Scenario:
    """A day of two channels and a session, whose times are multiples of a resolution."""

    def __init__(self, resolution=1, seed=1):
        self.random = random.Random(seed)
        self.resolution = resolution
        self.packets = []
        self.spans = {}
        self.skews = {1: [[], []], 2: [[], []]}
        self.lines = {}
        self.lost = {}
        self.tick_times = {1: [], 2: []}
        self.order_times, self.cancel_times = [], []
        self.streams = {CLIENT: 1_000, GATEWAY: 5_000}
        self.numbers = {CLIENT: 1, GATEWAY: 1}
        self.milliseconds = {}
        self.unanswered = 0
        self.replaced_fills = 0

    def round(self, time):
        return time // self.resolution * self.resolution

    def add(self, time, frame):
        self.packets.append((time, frame))

    def market(self, channel, count, start):
        """Lines with losses, duplicates, and packets out of order."""
        draw = self.random
        lines = [dict(packets=0, missing=0, duplicates=0, out_of_order=0) for _ in "AB"]
        lost, sent = 0, start
        captured = [[], []]
        for number in range(1, count + 1):
            sent += draw.randrange(2_000, 600_000)
            messages = draw.randrange(1, 6)
            payload = market_packet(channel, number, sent, messages)
            is_edge = number in (1, count)
            fate = 1.0 if is_edge else draw.random()
            present = [fate >= 0.03, fate >= 0.05 or fate < 0.02]
            if fate < 0.005:
                present = [False, False]
            lost += not any(present)
            times = [None, None]
            for line in (0, 1):
                if not present[line]:
                    lines[line]["missing"] += 1
                    continue
                times[line] = self.round(sent + draw.randrange(5_000, 900_000))
                captured[line].append((times[line], number))
                self.add(times[line], datagram(GROUPS[channel][line], payload))
                lines[line]["packets"] += 1
                if draw.random() < 0.02:
                    again = self.round(times[line] + draw.randrange(1, 50_000))
                    self.add(again, datagram(GROUPS[channel][line], payload))
                    self.tick_times[channel].append(again)
                    lines[line]["packets"] += 1
                    lines[line]["duplicates"] += 1
            both = [time for time in times if time is not None]
            self.tick_times[channel] += both
            if both:
                bucket = self.milliseconds.setdefault((channel, min(both) // 1_000_000), [0, 0])
                bucket[0] += messages
                bucket[1] += 1
            if len(both) == 2 and times[0] != times[1]:
                self.skews[channel][times[1] < times[0]].append(abs(times[1] - times[0]))
        for line in (0, 1):
            # The packets of a capture are in the order of their times.
            highest = 0
            for _, number in sorted(captured[line]):
                lines[line]["out_of_order"] += number < highest
                highest = max(highest, number)
        self.lines[channel], self.lost[channel] = lines, lost
        return sent

    def send(self, time, source, payload):
        destination = GATEWAY if source == CLIENT else CLIENT
        frame = segment(source, destination, self.streams[source], payload)
        self.streams[source] += len(payload)
        self.add(time, frame)
        return frame

    def number(self, source):
        self.numbers[source] += 1
        return self.numbers[source] - 1

    def connect(self, time):
        for source, destination in ((CLIENT, GATEWAY), (GATEWAY, CLIENT)):
            self.add(time, segment(source, destination, self.streams[source] - 1, b"", 0x02))
        self.send(time + 1_000_000, CLIENT, establish())

    def orders(self, count, start):
        """Requests with answers after known times."""
        draw, time = self.random, start
        first = len(self.order_times) + len(self.cancel_times)
        for index in range(first, first + count):
            time = self.round(time + draw.randrange(2_000_000, 4_000_000))
            identifier = b"O%07d" % index + bytes(12)
            self.request_with_answers(time, index, identifier, draw)
        return time

    def request_with_answers(self, time, index, identifier, draw):
        kind = draw.choice(["order", "order", "order", "replace", "cancel", "quote", "business"])
        (self.cancel_times if kind == "cancel" else self.order_times).append(time)
        number = self.number(CLIENT)
        later = self.round(time + draw.randrange(3_000, 900_000))
        reply = self.number(GATEWAY)
        if kind == "quote":
            self.send(time, CLIENT, quote(number, index, time))
            self.send(later, GATEWAY, quote_ack(reply, index, later))
            self.spans.setdefault("quote to ack", []).append(later - time)
        elif kind == "business":
            self.send(time, CLIENT, request("order", number, identifier, time))
            self.send(later, GATEWAY, business_reject(reply, number, later))
            self.spans.setdefault("request to business reject", []).append(later - time)
        else:
            self.send(time, CLIENT, request(kind, number, identifier, time))
            if draw.random() < 0.05:
                self.unanswered += 1
                return
            span = draw.choice([name for name, of in PAIRED.items() if of == kind])
            self.send(later, GATEWAY, answer(span, reply, identifier, later))
            self.spans.setdefault(span, []).append(later - time)
            if span == "order to ack" and draw.random() < 0.6:
                filled = self.round(later + draw.randrange(1_000, 900_000))
                reply = self.number(GATEWAY)
                self.send(filled, GATEWAY, answer("order to fill", reply, identifier, filled))
                self.spans.setdefault("order to fill", []).append(filled - time)
            elif span == "order to ack":
                self.replacement_with_the_same_identifier(identifier, later)

    def replacement_with_the_same_identifier(self, identifier, time):
        """The fill after it is of the replaced order."""
        sent, acknowledged, filled = (self.round(time + after) for after in (5_000, 90_000, 190_000))
        self.order_times.append(sent)
        self.send(sent, CLIENT, request("replace", self.number(CLIENT), identifier, sent))
        for span, at in (("replace to ack", acknowledged), ("order to fill", filled)):
            self.send(at, GATEWAY, answer(span, self.number(GATEWAY), identifier, at))
        self.spans.setdefault("replace to ack", []).append(acknowledged - sent)
        self.replaced_fills += 1

    def finish(self):
        """Returns the packets in the order of their times, and the figures."""
        self.packets.sort(key=lambda packet: packet[0])
        ticks = {}
        for channel, times in self.tick_times.items():
            times.sort()
            for kind, reactions in (("order", self.order_times), ("cancel", self.cancel_times)):
                # Of equal times, market data was added first.
                before = [(at, [time for time in times if time <= at]) for at in reactions]
                spans = [at - earlier[-1] for at, earlier in before if earlier]
                ticks[f"{channel} {kind}"] = statistics(spans)
        figures = dict(
            packets=len(self.packets), lines=self.lines, lost=self.lost,
            skews={channel: [statistics(line) for line in skew] for channel, skew in self.skews.items()},
            spans={name.replace(" ", "_"): statistics(span) for name, span in self.spans.items()},
            ticks=ticks,
            bursts={}, unanswered=self.unanswered,
            replaced_fills=self.replaced_fills)
        for channel in (1, 2):
            counts = [it for (of, _), it in self.milliseconds.items() if of == channel]
            if counts:
                figures["bursts"][channel] = statistics([messages for messages, _ in counts])
        return self.packets, figures


def statistics(samples):
    if not samples:
        return None
    ordered = sorted(samples)
    at = lambda parts: ordered[-(-len(ordered) * parts // 1_000) - 1]
    return dict(count=len(ordered), min=ordered[0], max=ordered[-1], mean=sum(ordered) / len(ordered),
                p50=at(500), p99=at(990), p99_9=at(999))


def day(resolution=1, seed=1, packets=1_500, orders=250):
    scenario = Scenario(resolution, seed)
    scenario.connect(scenario.round(START))
    start = scenario.round(START + 10_000_000)
    scenario.market(1, packets, start)
    scenario.market(2, packets // 2, start)
    scenario.orders(orders, scenario.round(start + 3_000_000))
    return scenario


# Files.

def pcap(packets, unit=1_000, order="<"):
    magic = 0xa1b23c4d if unit == 1 else 0xa1b2c3d4
    file = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262_144, 1)
    for time, frame in packets:
        file += struct.pack(order + "IIII", time // SECOND, time % SECOND // unit, len(frame), len(frame))
        file += frame
    return file


def block(kind, body):
    body += bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def pcapng(packets):
    parts = [block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))]
    parts.append(block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0)))
    for time, frame in packets:
        header = struct.pack("<IIIII", 0, time >> 32, time & 0xffffffff, len(frame), len(frame))
        parts.append(block(6, header + frame))
    return b"".join(parts)


def erf(packets):
    parts = []
    for index, (time, frame) in enumerate(packets):
        fraction = -(-(time % SECOND << 32) // SECOND)
        kind, extensions = ((2, b""), (16, b""), (2, bytes([0x83] + [0] * 7 + [0x03] + [0] * 7)))[index % 3]
        body = extensions + bytes(2) + frame
        body += bytes(-len(body) % 8)
        parts.append(struct.pack("<II", fraction, time // SECOND))
        kind |= 0x80 if extensions else 0
        parts.append(struct.pack(">BBHHH", kind, 4, 16 + len(body), 0, len(frame)) + body)
    return b"".join(parts)


def metamako(time):
    return bytes(4) + struct.pack(">IIBHB", time // SECOND, time % SECOND, 1, 5, 3)


def exablaze(time):
    fraction = -(-(time % SECOND << 40) // SECOND)
    return bytes([1, 2, 3, 4, 0, 7]) + struct.pack(">I", time // SECOND) + fraction.to_bytes(5, "big") + b"\0"


def trailed(packets, trailer, fcs):
    """Frames whose trailers have the times; the capture's own are a quarter of a second later."""
    fcs = bytes([9, 9, 9, 9]) if fcs else b""
    return [(time + SECOND // 4 // 1_000 * 1_000, frame + trailer(time) + fcs) for time, frame in packets]


def zstd(content):
    """Returns a zstd frame of uncompressed blocks."""
    file = struct.pack("<I", 0xfd2fb528) + bytes([0, 0x58])
    step = 1 << 17
    pieces = [content[at : at + step] for at in range(0, len(content), step)]
    for index, piece in enumerate(pieces):
        header = (index == len(pieces) - 1) | len(piece) << 3
        file += header.to_bytes(3, "little") + piece
    return file


CASES = []


def case(name, files, figures, **more):
    names = []
    for index, content in enumerate(files):
        path = FOLDER / f"{name}-{index}.cap"
        path.write_bytes(content)
        names.append(path.name)
    CASES.append(dict(name=name, files=names, figures=figures, **more))


def formats():
    packets, figures = day().finish()
    case("pcap-ns", [pcap(packets, 1)], figures)
    case("pcap-big-endian", [pcap(packets, 1, ">")], figures)
    case("pcapng", [pcapng(packets)], figures)
    case("pcapng-gz", [gzip.compress(pcapng(packets))], figures)
    case("erf", [erf(packets)], figures)
    case("erf-zst", [zstd(erf(packets))], figures)
    case("metamako", [pcap(trailed(packets, metamako, False))], figures, times="Metamako trailers")
    case("metamako-fcs", [pcap(trailed(packets, metamako, True))], figures, times="Metamako trailers")
    case("exablaze", [pcap(trailed(packets, exablaze, False))], figures, times="Exablaze trailers")
    case("exablaze-fcs", [pcapng(trailed(packets, exablaze, True))], figures, times="Exablaze trailers")
    coarse, figures = day(1_000).finish()
    case("pcap-us", [pcap(coarse)], figures, times="capture, resolution 1000 ns")
    # Several files, given in the wrong order.
    thirds = [coarse[:1_000], coarse[1_000:3_000], coarse[3_000:]]
    case("wrong-order", [pcap(third) for third in reversed(thirds)], figures)
    # One file for each direction of market data, and one for orders.
    parts = [[packet for packet in coarse if packet[1][30:33] == prefix]
             for prefix in (bytes([239, 1, 1]), bytes([239, 1, 2]), bytes([10, 0, 0]))]
    case("file-per-line", [pcap(part) for part in parts], figures)


def truncated():
    scenario = day(seed=3)
    packets, figures = scenario.finish()
    # The last packet is extra: it is the one that is cut.
    time = packets[-1][0] + 1
    extra = (time, datagram(GROUPS[1][0], market_packet(1, 1_000_000, time, 1)))
    case("truncated", [pcap(packets + [extra], 1)[:-5]], figures, status=1,
         error="the file ends ")


def mid_session():
    """The capture begins after some requests were sent, within a frame."""
    scenario = Scenario(seed=4)
    start = START + 10_000_000
    outside = []
    for index in range(20):
        identifier = b"X%07d" % index + bytes(12)
        time = start + index * 1_000_000
        scenario.send(time, CLIENT, request("order", scenario.number(CLIENT), identifier, time))
        outside.append(identifier)
    scenario.packets.clear()
    cut = request("order", scenario.number(CLIENT), b"CUT".ljust(20, b"\0"), start)
    scenario.streams[CLIENT] += 100
    scenario.send(start + 20_000_000, CLIENT, cut[100:])
    for index, identifier in enumerate(outside):
        time = start + 21_000_000 + index * 1_000_000
        scenario.send(time, GATEWAY, answer("order to ack", scenario.number(GATEWAY), identifier, time))
    scenario.orders(120, start + 60_000_000)
    packets, figures = scenario.finish()
    case("mid-session", [pcap(packets, 1)], figures, answers_without_request=20, session="UUID 7")


def clock_step():
    """The clock of the second file is five seconds ahead. A request is open at the step."""
    scenario = Scenario(seed=5)
    scenario.connect(START)
    middle = scenario.orders(60, START + 10_000_000) + 10_000_000
    identifier = b"STEP".ljust(20, b"\0")
    number = scenario.number(CLIENT)
    scenario.send(middle, CLIENT, request("order", number, identifier, middle))
    scenario.order_times.append(middle)
    after = middle + 500_000
    scenario.send(after, GATEWAY, answer("order to ack", scenario.number(GATEWAY), identifier, after))
    scenario.orders(60, after + 10_000_000)
    packets, figures = scenario.finish()
    files = [[it for it in packets if it[0] <= middle], [it for it in packets if it[0] > middle]]
    files[1] = [(time + 5 * SECOND, frame) for time, frame in files[1]]
    case("clock-step", [pcap(it, 1) for it in files], figures, across_clock_steps=1, steps=True)


def clock_back():
    """An answer is stamped before its request, by less than a step."""
    scenario = Scenario(seed=6)
    scenario.connect(START)
    end = scenario.orders(60, START + 10_000_000) + 10_000_000
    identifier = b"BACK".ljust(20, b"\0")
    scenario.send(end, CLIENT, request("order", scenario.number(CLIENT), identifier, end))
    packets, figures = scenario.finish()
    early = end - 1_000
    scenario.send(early, GATEWAY, answer("order to ack", scenario.number(GATEWAY), identifier, early))
    figures["packets"] += 1
    case("clock-back", [pcap(packets, 1)], figures, answers_before_request=1, times_going_back=1)


def tcp():
    """Segments out of order and repeated keep their first time; a lost one is a gap."""
    scenario = day(seed=7, packets=200, orders=150)
    packets, figures = scenario.finish()
    is_client = lambda frame: frame[23] == 6 and len(frame) > 60 and frame[26:30] == address(CLIENT[0])
    places = [place for place, (_, frame) in enumerate(packets) if is_client(frame)]
    repeated = 0
    for place in reversed(places[10:-10:7]):
        time, frame = packets[place]
        packets.insert(place + 5, (packets[place + 4][0], frame))
        repeated += 1
    figures["packets"] += repeated
    case("tcp-repeated", [pcap(packets, 1)], figures, repeated_segments=repeated)

    scenario = Scenario(seed=8)
    scenario.connect(START)
    time = START + 20_000_000
    for index in range(100):
        names = [b"P%06d%d" % (index, part) + bytes(12) for part in (0, 1)]
        frames = []
        for name in names:
            number = scenario.number(CLIENT)
            frames.append(segment(CLIENT, GATEWAY, scenario.streams[CLIENT],
                                  request("order", number, name, time)))
            scenario.streams[CLIENT] += len(request("order", 1, name, time))
        # The second of two segments is captured first.
        stamps = [time + 2_000, time]
        for stamp, frame, name in zip(stamps, frames, names):
            scenario.add(stamp, frame)
            scenario.order_times.append(stamp)
            later = time + 300_000 + index
            scenario.send(later, GATEWAY, answer("order to ack", scenario.number(GATEWAY), name, later))
            scenario.spans.setdefault("order to ack", []).append(later - stamp)
        time += 5_000_000
    packets, figures = scenario.finish()
    case("tcp-out-of-order", [pcap(packets, 1)], figures)

    scenario = Scenario(seed=9)
    scenario.connect(START)
    scenario.orders(100, START + 10_000_000)
    lost = b"LOST".ljust(20, b"\0")
    end = scenario.packets[-1][0] + 5_000_000
    payload = request("order", scenario.number(CLIENT), lost, end)
    scenario.streams[CLIENT] += len(payload)
    acked = end + 100_000
    scenario.send(acked, GATEWAY, answer("order to ack", scenario.number(GATEWAY), lost, acked))
    scenario.orders(100, end + 10_000_000)
    packets, figures = scenario.finish()
    case("tcp-gap", [pcap(packets, 1)], figures, missing_bytes=len(payload),
         answers_without_request=1, stream_gaps=1)


formats()
truncated()
mid_session()
clock_step()
clock_back()
tcp()
(FOLDER / "cases.json").write_text(json.dumps(CASES))
