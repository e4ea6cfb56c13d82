#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The README's two-process example, taken from the README itself: it compiles without a warning
# and prints what the README says it prints.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$top_srcdir/README.md" >"$work/hello.c"
lines=$(wc -l <"$work/hello.c")
[ "$lines" -gt 20 ] || { echo "no example found in README.md"; exit 1; }
$CC -Wall -Wextra -Werror -I"$top_srcdir/include" -o "$work/hello" "$work/hello.c" \
	-L"$top_builddir/.libs" -lscif
output=$(LD_LIBRARY_PATH="$top_builddir/.libs" SCIF_FABRIC="readme-$$" timeout 20 "$work/hello")
echo "$output"
expected=$(awk '/^```output$/ { on = 1; next } /^```$/ { on = 0 } on' "$top_srcdir/README.md")
[ "$output" = "$expected" ] || { echo "the README says: $expected"; exit 1; }
