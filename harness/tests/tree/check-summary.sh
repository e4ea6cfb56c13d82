#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Closes `make check`: the end of the log of every test program with a failure, a line for each failed result,
# then one line that counts every single result of every test. Run in the build folder.
set -eu
lines=${CHECK_SUMMARY_LINES:-25}

find . -name '*.trs' | sort | while read -r trs; do
	failures=$(grep -E '^:test-result: (FAIL|XPASS|ERROR)' "$trs") || continue
	test=${trs#./}
	test=${test%.trs}
	echo "== $test: the last lines of its log"
	# A TAP log holds every result; only what says something about the failures is shown.
	sed '/^ok /d; /^PASS: /d; /^SKIP: /d' "${trs%.trs}.log" | tail -n "$lines"
	echo "$failures" | sed "s|^:test-result: |== $test: |"
done

find . -name '*.trs' -exec cat {} + | awk '
	$1 == ":test-result:" && ($2 == "PASS" || $2 == "XFAIL") { passed++ }
	$1 == ":test-result:" && ($2 == "FAIL" || $2 == "XPASS" || $2 == "ERROR") { failed++ }
	$1 == ":test-result:" && $2 == "SKIP" { skipped++ }
	END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
