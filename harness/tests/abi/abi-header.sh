#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compiles a user of both headers as every C and C++ standard with every compiler there is, without
# a warning, and checks that the headers define no name that the table does not know.
set -u
here=$top_srcdir/harness/tests/abi
work=abi-header.tmp
rm -rf "$work"
mkdir "$work" || exit 99
trap 'rm -rf "$work"' EXIT
tried=0
failed=0

try() { # COMPILER STANDARD LANGUAGE
	if ! echo 'int abi_probe;' |
		"$1" "-std=$2" -x "$3" -c -o "$work/probe.o" - 2>/dev/null; then
		echo "not tried: $1 does not know -std=$2"
		return
	fi
	tried=$((tried + 1))
	if ! "$1" "-std=$2" -Wall -Wextra -pedantic -Werror -I"$top_srcdir/include" -I"$here" \
		-x "$3" -c -o "$work/use.o" "$here/abi-use.c" 2>"$work/messages"; then
		failed=$((failed + 1))
		echo "$1 -std=$2:"
		cat "$work/messages"
	fi
}

for compiler in ${CC%% *} gcc clang; do
	command -v "$compiler" >/dev/null 2>&1 || continue
	for standard in c89 c99 c11 c17 c2x gnu89 gnu11 gnu2x; do
		try "$compiler" "$standard" c
	done
done
for compiler in ${CXX%% *} g++ clang++; do
	command -v "$compiler" >/dev/null 2>&1 || continue
	for standard in c++98 c++11 c++14 c++17 c++20 gnu++20; do
		try "$compiler" "$standard" c++
	done
done

# Macros that appear when our header is included after everything it includes itself.
names() {
	printf '%s\n' '#include <errno.h>' '#include <poll.h>' '#include <stddef.h>' \
		'#include <stdint.h>' '#include <sys/select.h>' '#include <sys/types.h>' \
		'#include <unistd.h>' "$@" |
		${CC%% *} -I"$top_srcdir/include" -dM -E -x c - |
		sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' | sort
}
names >"$work/without"
names '#include "scif.h"' '#include "scif_event.h"' >"$work/with"
sed -n 's/^VALUE(\([^,]*\),.*/\1/p' "$here/values.def" >"$work/known"
printf '%s\n' portID SCIF_OPEN_FAILED SCIF_REGISTER_FAILED SCIF_MMAP_FAILED \
	__SCIF_H__ SCIF_EVENT_H >>"$work/known"
sort -o "$work/known" "$work/known"
comm -13 "$work/without" "$work/with" | comm -23 - "$work/known" >"$work/unknown"
if [ -s "$work/unknown" ]; then
	echo "the headers define names that the table does not list:" $(cat "$work/unknown")
	failed=$((failed + 1))
fi

echo "$tried compilations, $failed failed"
[ "$tried" -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
