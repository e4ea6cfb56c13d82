#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The instructions of the hot paths are those that were recorded for this compiler, C library and kind of processor (the
# C library's copying depends on it), as callgrind counts them. With UPDATE=1 they are recorded. Up to 3 in 100 more or
# fewer are let pass: the dynamic linker's way to a function is counted, too.
set -eu
recorded=$top_srcdir/harness/tests/bench/instructions.tsv
command -v valgrind >/dev/null || { echo 'valgrind is not there'; exit 77; }
grep -q '^#define HAVE_VALGRIND_CALLGRIND_H 1' "$top_builddir/config.h" || { echo 'valgrind/callgrind.h was not there'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
setarch -R true 2>/dev/null || { echo 'addresses cannot be made the same each time here'; exit 77; }
grep -qw avx2 /proc/cpuinfo && processor=avx2 || processor=no-avx2
flags=$(sed -n 's/^CFLAGS = //p' "$top_builddir/Makefile")
key="$($CC --version | sed -n 1p), $(getconf GNU_LIBC_VERSION), $(uname -m) $processor, $flags"

# fewest OPERATION: of all its dumps.
fewest() {
	(cd "$work" && rm -f dump.* && LD_LIBRARY_PATH="$top_builddir/.libs" LD_BIND_NOW=1 setarch -R valgrind -q --tool=callgrind \
		--callgrind-out-file=dump "$program" "$1" >log 2>&1) || { cat "$work/log" >&2; exit 1; }
	sed -n 's/^totals: //p' "$work"/dump.[0-9]* | sort -n | sed -n 1p
}

program=$top_builddir/.libs/hot-paths
[ -x "$program" ] || program=$top_builddir/hot-paths
LD_LIBRARY_PATH="$top_builddir/.libs" "$program" list >"$work/operations"
if [ -z "${UPDATE-}" ] && ! grep -qF "$key	" "$recorded"; then
	echo "nothing is recorded for $key: make update-instructions"
	exit 77
fi
wrong=0
: >"$work/fresh"
while read -r operation; do
	count=$(fewest "$operation")
	printf '%s\t%s\t%s\n' "$key" "$operation" "$count" >>"$work/fresh"
	[ -z "${UPDATE-}" ] || continue
	before=$(awk -F '\t' -v key="$key" -v operation="$operation" '$1 == key && $2 == operation { print $3 }' "$recorded")
	echo "$operation: $count instructions, ${before:-none} recorded"
	[ -n "$before" ] && [ $((count * 100)) -le $((before * 103)) ] && [ $((count * 100)) -ge $((before * 97)) ] || wrong=1
done <"$work/operations"
if [ -n "${UPDATE-}" ]; then
	{ grep -vF "$key	" "$recorded" || :; } >"$work/others"
	sort "$work/others" "$work/fresh" >"$recorded"
fi
[ $wrong -eq 0 ] || echo 'other instructions than recorded; where that is meant: make update-instructions' >&2
exit $wrong
