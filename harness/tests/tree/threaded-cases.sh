#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# threaded-cases.sh scif|rsm: the clauses whose cases have several threads in the library, for tools that are about
# threads: id and function, separated by a tab. They are those where the raw log of the reference certification has a
# call from another thread than the case's first, or a verb that the peer ran in a thread of its own ("&verb"; it
# accepts so in nearly every case, so that alone does not count). Then the first of each function, for the threads that
# the libraries have themselves.
set -eu
case $1 in
scif) log=$top_srcdir/results/reference/observations.jsonl.gz ;;
rsm) log=$top_srcdir/results/reference-rsm/observations.jsonl.gz ;;
*) echo "threaded-cases.sh: there is no API $1" >&2 && exit 2 ;;
esac
threaded=$(gunzip -c "$log" | grep -E '"by":"thread |"&([b-z]|a[abd-z])' | sed -E 's/^\{"id":"([^"]+)".*/\1/' | tr '\n' ' ')
"$top_builddir/harness/runner/scif-cts" list clauses --api "$1" | awk -F '\t' -v threaded=" $threaded" \
	'NR > 1 && (index(threaded, " " $1 " ") || !($2 in seen)) { print $1 "\t" $2 } { seen[$2] = 1 }'
