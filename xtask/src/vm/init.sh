#!/bin/busybox sh
# The first process of the guest of `cargo xtask vm`. Runs the cells of /vm/plan and reports each of
# them over the second serial port, one line per fact; `report.rs` documents the lines. The console
# is the first serial port.
#
# No step has a limit that measures speed. STEP_LIMIT only ends a program that hangs.

STEP_LIMIT=180
PORT=9200

export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /applets
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /applets
export PATH=/bin:/applets
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf

# busybox prefers its own applet of this name.
ip() { /bin/ip "$@"; }
in_a() { /bin/ip netns exec a "$@"; }
in_b() { /bin/ip netns exec b "$@"; }

stty raw -echo -F /dev/ttyS1
exec 3>/dev/ttyS1
report() { echo "$*" >&3; }

# Reports the last lines of a file as the log of the cell.
report_log() {
    tail -n 60 "$1" | while IFS= read -r line; do
        report "log $(basename "$1"): $line"
    done
}

# Ends a process, gently first.
stop() {
    kill -TERM "$1" 2>/dev/null
    for _ in $(seq 100); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

# Prints the name of the interface with a MAC address.
interface_of() {
    for folder in /sys/class/net/*; do
        if [ "$(cat "$folder/address" 2>/dev/null)" = "$1" ]; then
            basename "$folder"
            return
        fi
    done
}

# Moves the pair of a driver into the namespaces a and b. There both are called nic0, so that the
# same error messages of two drivers are equal.
take_pair() {
    # First the cards: connections of the kernel's RDS keep a namespace after its name is deleted. A
    # veth ends.
    for host in a b; do
        ip -n $host link del nic0 || ip -n $host link set nic0 netns 1 name nic7$host
    done 2>/dev/null
    ip netns del a 2>/dev/null
    ip netns del b 2>/dev/null
    # Network cards of a deleted namespace return to the first one, a moment later.
    base_a=
    base_b=
    ip netns add a
    ip netns add b
    in_a /bin/ip link set lo up
    in_b /bin/ip link set lo up
    if [ "$1" = veth ]; then
        # Under other names first: a card of the driver before may have returned as nic0.
        ip link add veth7a netns a type veth peer name veth7b netns b &&
            in_a /bin/ip link set veth7a name nic0 && in_b /bin/ip link set veth7b name nic0
        return
    fi
    mac_a=$(sed -n "s/^nic $1 \([^ ]*\) .*/\1/p" /vm/plan)
    mac_b=$(sed -n "s/^nic $1 [^ ]* //p" /vm/plan)
    for _ in $(seq 100); do
        base_a=$(interface_of "$mac_a")
        base_b=$(interface_of "$mac_b")
        [ -n "$base_a" ] && [ -n "$base_b" ] && break
        sleep 0.2
    done
    [ -n "$base_a" ] && [ -n "$base_b" ] || return 1
    move "$base_a" a && move "$base_b" b
}

# Moves an interface into a namespace, as its driver has made it.
move() {
    ip link set "$1" down && ip link set "$1" mtu 1500 && ip link set "$1" netns "$2" name nic0
}

# Puts a device on the interface $2 of the namespace $1. Prints the name of the interface to use.
add_device() {
    run="/bin/ip netns exec $1"
    link="$run /bin/ip link"
    case $3 in
    bond | bond-lacp)
        mode=active-backup
        [ "$3" = bond ] || mode='802.3ad lacp_rate fast'
        # The mode with its setting is two words.
        $link add bond7 type bond mode $mode miimon 100 &&
            $link set "$2" down && $link set "$2" master bond7 && $link set "$2" up || return 1
        name=bond7
        ;;
    mtu9000)
        $link set "$2" mtu 9000 && $link set "$2" up || return 1
        name=$2
        ;;
    *)
        $link set "$2" up || return 1
        name=$2
        ;;
    esac
    case $3 in
    vlan) name=vlan7 && $link add link "$2" name vlan7 type vlan id 7 || return 1 ;;
    qinq)
        name=vlan8
        $link add link "$2" name vlan7 type vlan protocol 802.1ad id 7 && $link set vlan7 up &&
            $link add link vlan7 name vlan8 type vlan id 8 || return 1
        ;;
    macvlan)
        # Otherwise both answer ARP for the address, and the peer may send to the lower one.
        $run /applets/sysctl -q -w "net.ipv4.conf.$2.arp_ignore=1" || return 1
        name=macvlan7 && $link add link "$2" name macvlan7 type macvlan mode bridge || return 1
        ;;
    ipvlan) name=ipvlan7 && $link add link "$2" name ipvlan7 type ipvlan mode l2 || return 1 ;;
    ipvlan-l3) name=ipvlan7 && $link add link "$2" name ipvlan7 type ipvlan mode l3 || return 1 ;;
    bridge)
        name=bridge7
        $link add bridge7 type bridge forward_delay 0 && $link set "$2" master bridge7 || return 1
        ;;
    nftables) $run /bin/nft -f /tmp/rules || return 1 ;;
    netem)
        # Early frames require that others are delayed.
        $run /bin/tc qdisc add dev "$2" root netem limit 100000 delay 2ms \
            loss 5% duplicate 3% reorder 3% corrupt 0.1% || return 1
        ;;
    esac
    $link set "$name" up || return 1
    echo "$name"
}

# A firewall that accepts what the tests send, without a state of their flows, and nothing else.
cat >/tmp/rules <<END
table inet firewall {
    chain input {
        type filter hook input priority 0; policy drop;
        udp dport 9200-9999 accept
        udp sport 9200-9999 accept
        tcp dport 9200-9999 accept
        tcp sport 9200-9999 accept
        meta l4proto 1 accept
        meta l4proto 58 accept
    }
}
END

# Prepares the hosts of a driver and a device. Sets if_a, if_b, host_a, host_b and row_error.
prepare() {
    row_error=
    if ! take_pair "$1" >/tmp/setup 2>&1; then
        row_error="no network cards of $1: $(tail -n 1 /tmp/setup)"
        return
    fi
    if_a=$(add_device a nic0 "$2" 2>/tmp/setup) &&
        if_b=$(add_device b nic0 "$2" 2>/tmp/setup) ||
        { row_error="cannot add the device: $(tail -n 1 /tmp/setup)"; return; }
    host_a=10.7.0.1 host_b=10.7.0.2 prefix=24
    [ "$2" = ipv6 ] && host_a=fd07::1 host_b=fd07::2 prefix='64 nodad'
    # The length of the prefix and its flag are two words.
    in_a /bin/ip addr add "$host_a"/$prefix dev "$if_a" 2>/tmp/setup &&
        in_b /bin/ip addr add "$host_b"/$prefix dev "$if_b" 2>/tmp/setup ||
        row_error="cannot add an address: $(tail -n 1 /tmp/setup)"
    if [ "$2" = ipvlan-l3 ]; then
        # Neither the network card nor the ipvlan answers ARP.
        know_neighbor a "$host_b" b && know_neighbor b "$host_a" a ||
            row_error="cannot add a neighbor: $(tail -n 1 /tmp/setup)"
    fi
}

# Enters the address $2 with the network card of the namespace $3 at the one of the namespace $1.
know_neighbor() {
    mac=$(/bin/ip netns exec "$3" cat /sys/class/net/nic0/address)
    /bin/ip -n "$1" neigh add "$2" lladdr "$mac" dev nic0 2>/tmp/setup
}

# Waits until kernel sockets reach the other host. A card resets its link when a filter leaves it.
wait_for_link() {
    for tries in $(seq 60); do
        in_a ping -c 1 -W 1 "$host_b" >/tmp/link 2>&1 && return
    done
    return 1
}

# Starts a server on host b. Waits until it prints $1 or ends; sets server and server_up.
start_server() {
    ready=$1
    shift
    # Not through the function, so that $! is the program.
    /bin/ip netns exec b "$@" >/tmp/server 2>&1 &
    server=$!
    server_up=no
    for _ in $(seq $((STEP_LIMIT * 5))); do
        if grep -q "$ready" /tmp/server; then
            server_up=yes
            break
        fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    if [ $server_up = no ]; then
        if kill -0 "$server" 2>/dev/null; then
            stop "$server"
            status=hang
        else
            wait "$server"
            status=$?
        fi
        report "step server $status"
        return 1
    fi
    # Attaching a filter may reset the link.
    for _ in $(seq 100); do
        in_b grep -q 1 "/sys/class/net/$if_b/carrier" && break
        sleep 0.1
    done
}

# Runs a client on host a and reports its exit status. A client that gets no answer runs again, at
# most three times: on a slow machine a card that resets its link, or a bond that waits for it, may
# be down for longer than the client waits. A host that is cut off stays so.
run_client() {
    for try in 1 2 3; do
        # 100,000 messages take longer, as netem loses them.
        limit=$STEP_LIMIT
        [ "$device" = netem ] && limit=$((STEP_LIMIT * 3))
        timeout -k 10 $limit /bin/ip netns exec a "$@" >/tmp/client 2>&1
        status=$?
        [ $status = 143 ] || [ $status = 137 ] && status=hang
        grep -q 'no answer' /tmp/client || break
    done
    [ $try = 1 ] || echo "$try tries" >>/tmp/client
    report "step client $status"
}

start_pong() {
    start_server 'answers over' /bin/hairpin pong --transport xdp --xdp-mode "$2" \
        --protocol "$1" --interface "$if_b" --listen "$host_b":$PORT
}

# With losses a reliable protocol carries 100,000 messages, many of them in flight at a time.
run_ping() {
    samples=300 pace=
    [ "$device" = netem ] && [ "$1" != udp ] && samples=100000 pace='--interval-us 300'
    # The pace is a flag and its value.
    run_client /bin/hairpin ping --transport xdp --xdp-mode "$2" --protocol "$1" $pace \
        --interface "$if_a" --samples $samples --rounds 1 --wait epoll "$host_b":$PORT
}

ping_pong() {
    start_pong "$1" "$2" || return
    run_ping "$1" "$2"
    stop "$server"
}

# The program moves between the hosts by itself.
rds_contract() {
    for limit in /proc/sys/net/core/wmem_max /proc/sys/net/core/rmem_max; do
        echo 16777216 >$limit
    done
    timeout -k 10 $((STEP_LIMIT * 10)) /bin/rds_contract /run/netns/a "$host_a" "$if_a" \
        /run/netns/b "$host_b" "$if_b" >/tmp/client 2>&1
    status=$?
    [ $status = 143 ] || [ $status = 137 ] && status=hang
    report "step client $status"
}

# Frames have no address of IP: the ping finds the pong by itself.
ping_frames() {
    start_server 'answers over' /bin/hairpin pong --transport xdp --protocol raw \
        --interface "$if_b" || return
    run_client /bin/hairpin ping --transport xdp --protocol raw --interface "$if_a" \
        --samples 300 --rounds 1 --wait epoll
    stop "$server"
}

# Pings a pong, does $1 to its host, and pings again, a new pong if that one has ended.
ping_twice() {
    start_pong udp auto || return
    run_ping udp auto
    [ "$status" = 0 ] || { stop "$server"; return; }
    "$1" >/tmp/peer 2>&1 || { report "error $1: $(tail -n 1 /tmp/peer)"; stop "$server"; return; }
    wait_for_link || { report "error $1: no answer to the kernel's ping"; stop "$server"; return; }
    if ! kill -0 "$server" 2>/dev/null; then
        cp /tmp/server /tmp/peer
        start_pong udp auto || return
    fi
    run_ping udp auto
    stop "$server"
}

kill_pong() {
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    echo "killed"
}

link_down() {
    in_b /bin/ip link set "$if_b" down && sleep 2 && in_b /bin/ip link set "$if_b" up
}

# The interface ends with its driver, and a new one begins in the first namespace.
unbind() {
    pci=$(basename "$(in_b readlink "/sys/class/net/nic0/device")")
    # virtio-net is a driver of the bus virtio.
    bus=$(in_b readlink -f /sys/class/net/nic0/device/subsystem)
    name=$(basename "$(in_b readlink /sys/class/net/nic0/device/driver)")
    echo "$pci" >"$bus/drivers/$name/unbind" || return 1
    for _ in $(seq 100); do
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    stop "$server"
    echo "$pci" >"$bus/drivers/$name/bind" || return 1
    prepare "$driver" "$device"
    [ -z "$row_error" ] || { echo "$row_error"; return 1; }
}

# The clock of the machine wakes the guest.
suspend() {
    echo 0 >/sys/class/rtc/rtc0/wakealarm
    echo +3 >/sys/class/rtc/rtc0/wakealarm || return 1
    echo deep >/sys/power/mem_sleep
    echo mem >/sys/power/state
}

# Publishes a capture on one interface, or on two at once, and compares what a feed receives with
# the capture: all incremental messages, or after losses the last prices of each instrument.
feed() {
    megabytes=1 rate=200 format='--format json' final=incremental_of
    # More than 100,000 messages.
    [ "$device" = netem ] && megabytes=32 rate=1600 format=--books final=prices_of
    capture=/tmp/market-$megabytes.pcap
    [ -e $capture ] || /bin/hairpin generate $capture --instruments 20 --rate $rate \
        --megabytes $megabytes >/tmp/peer 2>&1
    # A first publication, for the addresses.
    publish "$if_b" --speed max >/tmp/peer 2>&1
    # The flags are words each.
    lines="--interface $if_a" second=
    [ "$1" = ab ] && second=line7 && add_line && lines="--interface-a $if_a --interface-b line7"
    /bin/ip netns exec a /bin/hairpin feed $lines --config "/tmp/config-$if_b.xml" --transport xdp \
        --strict $format >/tmp/live 2>/tmp/client &
    client=$!
    for _ in $(seq 300); do
        [ $(($(grep -c ' mode, ' /tmp/client) * 2)) -ge "$(echo $lines | wc -w)" ] && break
        kill -0 $client 2>/dev/null || break
        sleep 0.2
    done
    sleep 2
    for interface in $second "$if_b"; do
        publish "$interface" >>/tmp/server 2>&1 &
    done
    publisher=$!
    wait $publisher
    /bin/hairpin feed --pcap $capture $format >/tmp/expected 2>>/tmp/peer
    $final /tmp/expected >/tmp/expected.final
    wait_for_end_of /tmp/live
    # The feed ends as programs end by this signal.
    kill -INT $client
    wait $client
    status=$?
    [ $status = 130 ] && status=0
    $final /tmp/live >/tmp/live.final
    echo "$(wc -l </tmp/expected.final) lines compared" >>/tmp/client
    # An instrument may wait for its next snapshot when the capture ends.
    waiting=$(sed -n 's/^\([0-9]*\) of \([0-9]*\) instruments in sync.*/\2 - \1/p' /tmp/live)
    different=$(diff /tmp/live.final /tmp/expected.final | grep -c '^>')
    if [ $status = 0 ]; then
        diff /tmp/live.final /tmp/expected.final | head -n 4 | cut -c 1-200 >>/tmp/client
        [ "$different" -le $((${waiting:-0})) ] || status=different
        [ -s /tmp/expected.final ] || status=empty
        [ "$device" != netem ] || ! grep -q ' 0 gaps' /tmp/live || status=no-gap
    fi
    tail -n 3 /tmp/live >/tmp/counters
    report "step client $status"
}

# Publishes the capture on the interface $1 of host b.
publish() {
    timeout -k 10 $STEP_LIMIT /bin/ip netns exec b /bin/hairpin exchange --publish $capture \
        --interface "$1" --config-out "/tmp/config-$1.xml" $2 $3
}

# Adds another interface to both hosts.
add_line() {
    ip link add line7 netns a type veth peer name line7 netns b
    in_a /bin/ip addr add 10.8.0.1/24 dev line7 && in_a /bin/ip link set line7 up &&
        in_b /bin/ip addr add 10.8.0.2/24 dev line7 && in_b /bin/ip link set line7 up
}

# Waits until a feed has printed all that is expected, or nothing for 5 s.
wait_for_end_of() {
    size=-1
    while [ "$size" != "$(wc -c <"$1")" ]; do
        size=$(wc -c <"$1")
        for _ in 1 2 3 4 5; do
            sleep 1
            $final "$1" >/tmp/live.final
            cmp -s /tmp/live.final /tmp/expected.final && return
        done
    done
}

# Prints the messages of the incremental feed, without heartbeats.
incremental_of() {
    grep '"template"' "$1" | grep -v '"template":\(12\|52\|54\|55\|56\|63\),' | sort
}

# Prints the last prices of each instrument.
prices_of() {
    # Without regular expressions, which take a minute here.
    awk '{
        at = index($0, " TopOfBook SecurityID=")
        if (!at) next
        price = substr($0, at + 22)
        last[substr(price, 1, index(price, " ") - 1)] = price
    } END { for (id in last) print last[id] }' "$1" | sort
}

# A session whose order fills, and another that rests until it is canceled.
order() {
    start_server 'order.toml' /bin/hairpin exchange --interface "$if_b" --transport xdp \
        --gateway "$host_b":$PORT --order-out /tmp/order.toml --traders 0 --instruments 1 || return
    rm -rf /tmp/journal
    run_client /bin/hairpin order /tmp/order.toml --interface "$if_a" --transport xdp --strict \
        --journal /tmp/journal --script /vm/order.script
    stop "$server"
}

trader() {
    start_server 'waiting for a trader' /bin/hairpin exchange --interface "$if_b" --transport xdp \
        --gateway "$host_b":$PORT --config-out /tmp/config.xml --rounds 1 --samples 300 \
        --interval-us 20000 || return
    run_client /bin/hairpin trader --interface "$if_a" --transport xdp --strict \
        --gateway "$host_b":$PORT --config /tmp/config.xml
    stop "$server"
}

# Checks that the host is reached while pong has its interface: more frames than a ring of receive
# buffers has entries.
host_ping() {
    start_server 'answers over' /bin/hairpin pong --transport xdp --protocol "$1" \
        --interface "$if_b" --listen "$host_b":$PORT || return
    peer=
    if [ "$2" = both ]; then
        /bin/ip netns exec a /bin/hairpin pong --transport xdp --protocol "$1" \
            --interface "$if_a" --listen "$host_a":$PORT >/tmp/peer 2>&1 &
        peer=$!
        until grep -q 'answers over' /tmp/peer || ! kill -0 $peer 2>/dev/null; do
            sleep 0.2
        done
    fi
    if [ "$2" = stopped ]; then
        # More datagrams than all rings hold.
        kill -STOP "$server"
        timeout -k 10 $STEP_LIMIT /bin/ip netns exec a /bin/sockperf throughput -i "$host_b" \
            -p $PORT -t 5 >/tmp/peer 2>&1
    fi
    if wait_for_link; then
        echo "first answer after $tries tries"
    else
        echo "no answer to $tries tries"
    fi >/tmp/counters
    run_client ping -c 600 -i 0.005 -W 10 "$host_b"
    tail -n 5 /tmp/client >/tmp/client.tail && mv /tmp/client.tail /tmp/client
    /bin/ip -n b -s link show dev "$if_b" >>/tmp/counters 2>&1
    [ -z "$peer" ] || stop "$peer"
    kill -CONT "$server"
    stop "$server"
}

# sockperf runs for a time, not for a number of messages. Taking its socket over takes up to 3 s on a
# slow machine.
sockperf_run() {
    flag= seconds=2 size=14
    [ "$1" = tcp ] && flag=--tcp seconds=10
    # In one packet that Ethernet's usual MTU does not permit.
    [ "$device" = mtu9000 ] && size=3000
    start_server 'using recvfrom' /bin/hairpin run --profile latency --summary=always --interface "$if_b" -- \
        /bin/sockperf server -i "$host_b" -p $PORT $flag || return
    run_client /bin/hairpin run --profile latency --summary=always --interface "$if_a" -- \
        /bin/sockperf ping-pong -i "$host_b" -p $PORT -t $seconds -m $size $flag
    stop "$server"
}

# Each command is a message of one connection. Without files, in a folder that exists.
redis_run() {
    size=3 count=2000
    # In one packet that is longer than a frame of memory.
    [ "$device" = mtu9000 ] && size=6000 count=600
    start_server 'Ready to accept' /bin/hairpin run --profile latency --summary=always --interface "$if_b" -- \
        /bin/redis-server --bind "$host_b" --port $PORT --save '' --dir /tmp --protected-mode no || return
    run_client /bin/hairpin run --profile latency --summary=always --interface "$if_a" -- \
        /bin/redis-benchmark -h "$host_b" -p $PORT -t set,get -c 1 -n $count -d $size --csv
    stop "$server"
}

# A web server of the kernel, and a file of 100,000 lines, or of fewer without losses.
curl_run() {
    lines=20000
    [ "$device" = netem ] && lines=100000
    mkdir -p /tmp/www
    seq -f "%0199.0f" $lines >/tmp/www/file 2>/dev/null ||
        awk "BEGIN { for (i = 0; i < $lines; i++) printf \"%0199d\\n\", i }" >/tmp/www/file
    /bin/ip netns exec b /applets/httpd -f -p $PORT -h /tmp/www >/tmp/server 2>&1 &
    server=$!
    at=$host_b
    [ "$device" = ipv6 ] && at="[$host_b]"
    run_client /bin/hairpin run --profile latency --summary=always --interface "$if_a" -- \
        /bin/curl -sS --retry 3 --retry-connrefused -o /tmp/received "http://$at:$PORT/file"
    cmp /tmp/www/file /tmp/received >>/tmp/client 2>&1 || report "step client different"
    stop "$server"
}

iperf3_run() {
    start_server 'Server listening' /bin/hairpin run --profile latency --summary=always \
        --interface "$if_b" -- /bin/iperf3 -s -1 -B "$host_b" -p $PORT --forceflush || return
    run_client /bin/hairpin run --profile latency --summary=always --interface "$if_a" -- \
        /bin/iperf3 -c "$host_b" -p $PORT -n 8M
    stop "$server"
}

run_test() {
    case $1 in
    udp | tcp) ping_pong "$1" auto ;;
    udp-* | tcp-*) ping_pong "${1%%-*}" "${1#*-}" ;;
    host-ping) host_ping udp one ;;
    host-ping-both) host_ping tcp both ;;
    host-ping-stopped) host_ping udp stopped ;;
    run-redis) redis_run ;;
    run-curl) curl_run ;;
    run-iperf3) iperf3_run ;;
    rds) ping_pong rds auto ;;
    rds-kernel) rds_contract ;;
    rds-ethernet) ping_pong "$1" auto ;;
    raw) ping_frames ;;
    feed) feed one ;;
    feed-ab) feed ab ;;
    order | trader) "$1" ;;
    kill) ping_twice kill_pong ;;
    link-down) ping_twice link_down ;;
    unbind | suspend) ping_twice "$1" ;;
    run-*) sockperf_run "${1#run-}" ;;
    *) report "error unknown test" ;;
    esac
}

report "release $(uname -r)"
while read -r module; do
    insmod "/vm/modules/$module.ko" 2>/tmp/insmod || report "note $(cat /tmp/insmod)"
done </vm/modules/order

row=
while read -r word driver device name; do
    [ "$word" = cell ] || continue
    report "begin $driver $device $name"
    if [ "$row" != "$driver $device" ]; then
        row="$driver $device"
        prepare "$driver" "$device"
    fi
    rm -f /tmp/server /tmp/peer /tmp/client /tmp/counters
    if [ -n "$row_error" ]; then
        report "error $row_error"
    elif ! wait_for_link; then
        report "error no answer to the kernel's ping before the test"
    else
        dmesg -c >/dev/null
        # A connection that has ended keeps its port for a minute (TIME-WAIT).
        PORT=$((PORT + 1))
        run_test "$name"
        dmesg -c >/tmp/kernel
    fi
    for file in /tmp/server /tmp/peer /tmp/client /tmp/counters /tmp/kernel; do
        [ -s $file ] && report_log $file
    done
    killall -9 hairpin sockperf redis-server redis-benchmark httpd iperf3 curl 2>/dev/null
    report "end $driver $device $name"
done </vm/plan
report done
sync
poweroff -f
