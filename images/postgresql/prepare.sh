#!/bin/sh
# Before the packages are installed: the user that they would create otherwise, and no database cluster.
# usage: prepare.sh [<root folder of the image>]
set -eu
root=${1:-}

# The number that percona/percona-distribution-postgresql and others have, so that volumes fit both. Debian gives the group
# to tape drives.
sed -i '/^tape:/d' "$root/etc/group"
echo 'postgres:x:26:' >>"$root/etc/group"
echo 'postgres:x:26:26:PostgreSQL:/var/lib/postgresql:/bin/bash' >>"$root/etc/passwd"

mkdir -p "$root/etc/postgresql-common"
echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"
