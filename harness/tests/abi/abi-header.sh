#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compiles a user of the headers of each library as every C and C++ standard with every compiler there
# is, without a warning, and checks that the headers define no name that the tables do not know.
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
	for user in abi-use.c rsm-use.c; do
		tried=$((tried + 1))
		"$1" "-std=$2" -Wall -Wextra -pedantic -Werror -I"$top_srcdir/include" -I"$here" \
			-x "$3" -c -o "$work/use.o" "$here/$user" 2>"$work/messages" && continue
		failed=$((failed + 1))
		echo "$1 -std=$2 $user:"
		cat "$work/messages"
	done
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

# Our headers, after everything that they include themselves, add only what the table knows.
system='#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/param.h>
#include <sys/select.h>
#include <sys/types.h>
#include <unistd.h>'
macros() { # HEADER...
	printf '%s\n' "$system" "$@" | ${CC%% *} -I"$top_srcdir/include" -dM -E -x c - |
		sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' | sort
}
macros >"$work/without"

check_names() { # TABLE "OTHER KNOWN NAMES" HEADER...
	table=$1
	{
		sed -n 's/^VALUE(\([^,]*\),.*/\1/p' "$here/$table"
		printf '%s\n' $2
	} | sort >"$work/known"
	shift 2
	unknown=$(macros "$@" | comm -13 "$work/without" - | comm -23 - "$work/known")
	if [ -n "$unknown" ]; then
		echo "headers define names that $table does not list:" $unknown
		failed=$((failed + 1))
	fi
}
check_names values.def \
	'portID SCIF_OPEN_FAILED SCIF_REGISTER_FAILED SCIF_MMAP_FAILED __SCIF_H__ SCIF_EVENT_H' \
	'#include "scif.h"' '#include "scif_event.h"'
check_names rsm-values.def \
	'ae_permissions import_segment_offset _RSMAPI_H _SYS_RSM_RSM_COMMON_H _SYS_RSM_RSMAPI_COMMON_H' \
	'#include "rsmapi.h"'

echo "$tried compilations, $failed failed"
[ "$tried" -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
