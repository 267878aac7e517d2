#!/bin/sh
# After the packages are unpacked: what nothing reads goes, and the user of the image gets a name, since some programs look for one.
# usage: finish.sh <root folder of the image>
set -eu
root=$1

# Unpacked alone, the packages have no links from the old folders to those below /usr.
for name in lib lib64; do
  if [ -d "$root/usr/$name" ] && [ ! -e "$root/$name" ]; then ln -s "usr/$name" "$root/$name"; fi
done

rm -rf "$root/dev" "$root/etc" "$root/run" "$root/var" "$root"/usr/lib/*/gconv
# But the licences of what stays: they go wherever it goes.
find "$root/usr/share" ! -type d ! -path '*/doc/*/copyright' -delete
find "$root/usr/share" -type d -empty -delete
mkdir -p "$root/etc"
echo 'plumbline:x:65532:65532:Plumbline:/tmp:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'plumbline:x:65532:' >"$root/etc/group"
