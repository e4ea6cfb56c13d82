#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The manual page of scif-cts is well-formed and names every option that the program takes.
set -eu
page=$top_srcdir/docs/scif-cts.1
"$top_builddir/harness/runner/scif-cts" --help |
	sed -n 's/^  --\([a-z-]*\) .*/\1/p' | while read -r option; do
	grep -q "^.It Fl Fl $option\b" "$page" || { echo "no --$option in $page"; exit 1; }
done
command -v mandoc >/dev/null || exit 77
mandoc -T lint -W warning "$page"
