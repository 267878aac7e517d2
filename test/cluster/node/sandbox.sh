#!/bin/sh
# Process 1 of a node, in namespaces of its own: what it mounts is seen by nobody else and goes with it.
# usage: sandbox.sh <folder> <pause>
set -eu
folder=$1 pause=$2

# /proc is still the machine's here, so this is the number by which the others know this process.
read -r pid _ </proc/self/stat
exec 3<"$folder"

mount -t proc proc /proc
# Places that containerd, its shims, CNI and the kubelet write to without asking.
mount -t tmpfs -o mode=0755 tmpfs /run
mount -t tmpfs -o mode=0755 tmpfs /var/log
mkdir /run/lib /run/lib/upper /run/lib/work
mount -t overlay -o lowerdir=/var/lib,upperdir=/run/lib/upper,workdir=/run/lib/work overlay /var/lib
# The settings of the whole machine cannot be changed from here. Those of the network belong to this namespace.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount --bind /proc/sys/net /proc/sys/net
mount -o remount,bind,rw /proc/sys/net
# The kubelet insists on changing these: it gets copies.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  mkdir -p "/run/settings/${setting%/*}"
  cat "/proc/sys/$setting" >"/run/settings/$setting"
  mount --bind "/run/settings/$setting" "/proc/sys/$setting"
done

# The folder may be below one of them.
mkdir -p "$folder"
mount --no-canonicalize --bind /proc/self/fd/3 "$folder"
exec 3<&-

echo "$pid" >"$folder/node/pid.partial"
mv "$folder/node/pid.partial" "$folder/node/pid"
# With the folder in its command line, by which left-overs are found.
exec "$pause" "$folder"
