#!/bin/sh
# Sets up a node's side of its one connection, which leads to the API server on this machine and no further: anything else is
# refused at once, so that nobody waits for an answer.
# usage: network.sh <address of the node> <address of the machine>
set -eu
ip link set lo up
ip address add "$1/30" dev uplink
ip link set uplink up
ip route add default via "$2"
echo 1 >/proc/sys/net/ipv4/ip_forward
nft -f - <<RULES
table ip plumbline {
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    oifname "uplink" ip daddr != $2 reject
  }
  chain output {
    type filter hook output priority filter - 10; policy accept;
    oifname "uplink" ip daddr != $2 reject
  }
  chain postrouting {
    type nat hook postrouting priority srcnat + 10; policy accept;
    oifname "uplink" masquerade
  }
}
RULES
