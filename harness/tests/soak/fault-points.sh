#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A process dies at every fault point that the source has. Those are the FAULT_POINTs, and every function that takes the
# lock of a side's memory. Other locks that processes share must have a FAULT_POINT within the lines that follow.
set -u
cd "$top_srcdir/ref/embedded" || exit 99

points=$(sed -n 's/.*FAULT_POINT("\([a-z-]*\)").*/\1/p' ./*.c | sort -u
	awk '/^[a-z].*\(/ && !/;/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		/^\tconn_lock_mem\(c\);/ { print name }' ./*.c)

# The registry's lock and those of one process's threads are no matter: they die with it.
bare=$(awk '
	FNR == 1 { if (open) print at; open = 0 }
	/^\tframes_lock\(|^\tint result = message_lock\(/ { open = 1; at = FILENAME ":" FNR }
	/FAULT_POINT/ || /take_run|store_take/ { open = 0 }
	/^}/ { if (open) print at; open = 0 }' store.c send.c recv.c)
known=$(grep -l 'PTHREAD_MUTEX_ROBUST\|PTHREAD_PROCESS_SHARED' ./*.c ../rsm/*.c | tr '\n' ' ')
if [ -n "$bare" ]; then
	echo "locks without a fault point: $bare"
	exit 1
fi
if [ "$known" != "./connection.c ./store.c " ]; then
	echo "locks that processes share in: $known; only those of connection.c and store.c are known here"
	exit 1
fi
# shellcheck disable=SC2086
exec "$top_builddir/fault-points" $points
