#!/bin/sh
# Creates or removes a file system of a bounded size, in a file, mounted at a folder.
# usage: volume.sh create <path> <MiB> | volume.sh remove <path>
set -eu
path=$2
case $1 in
create)
  mkdir -p "$path"
  truncate --size="${3}M" "$path.ext4"
  mkfs.ext4 -q -m 0 -E nodiscard "$path.ext4"
  # The loop device goes with the last mount.
  mount -o loop,nosuid,nodev "$path.ext4" "$path"
  ;;
remove)
  umount --lazy "$path"
  rm -r "$path.ext4" "$path"
  ;;
esac
