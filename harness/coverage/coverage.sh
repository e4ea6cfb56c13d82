#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# coverage.sh [FOLDER]: builds the libraries and their tools so that they count what runs of them, in COVERAGE_BUILD, runs
# COVERAGE_TESTS there, and writes the figures to FOLDER (default: results/coverage of the build folder). Fails when
# a test fails, a figure is below its goal, or results/coverage/uncovered.md does not explain just what was not run.
#
# The counters are a file that each process maps from the start on, so those of a process that is killed, ends by
# _exit or has no descriptor left are there as well, and nothing is written when it ends.
set -eu
LC_ALL=C
export LC_ALL
here=$top_srcdir/harness/coverage
results=${1:-$top_builddir/results/coverage}
folders='ref/scif ref/embedded ref/hw ref/rsm'
jobs=$(nproc)
started=$(date +%s)

# The build itself must not stop at what the caller's make was told.
unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX CFLAGS TESTS || true

build() {
	mkdir -p "$COVERAGE_BUILD/profiles"
	cd "$COVERAGE_BUILD"
	[ -f Makefile ] || "$top_srcdir/configure" -q --enable-coverage CC="${COVERAGE_CC:-clang}" CFLAGS='-g -O1'
	make -s -j"$jobs" all
}

# Each counted object has a file, which its first process makes. Some tests are other users for a while.
open_profiles() {
	[ "${NEW-}" = no ] || rm -f profiles/*
	for program in scif-fabric scif-fabric-next knc-info scif-cts-peer rsm-cts-peer; do
		./"$program" list >/dev/null 2>&1 </dev/null || true
	done
	chmod a+rwx profiles
	chmod a+rw profiles/*
}

run_tests() {
	make -s check TESTS="$COVERAGE_TESTS" >check.log 2>&1 || {
		find . -name '*.trs' -exec grep -lE '^:test-result: (FAIL|XPASS|ERROR)' {} +
		sh "$top_srcdir/harness/tests/tree/check-summary.sh"
		failed='a test failed'
	}
}

# tracefile: what ran of each line and function, in lcov's format.
tracefile() {
	llvm-profdata merge -sparse -o coverage.profdata profiles/*.profraw
	set --
	for folder in $folders; do
		set -- "$@" "$top_srcdir/$folder"
	done
	llvm-cov export -format=lcov -instr-profile=coverage.profdata .libs/libscif.so \
		-object .libs/librsm.so -object scif-fabric -object knc-info "$@" >coverage.info
}

failed=
build
open_profiles
run_tests
tracefile
mkdir -p "$results"
awk -f "$here/lines.awk" coverage.info | sort >coverage.lines
awk -v folders="$folders" -v json="$results/lines.json" -f "$here/report.awk" coverage.lines >"$results/summary.txt" ||
	failed="${failed:+$failed; }a figure is below its goal"
cat "$results/summary.txt"
awk -f "$here/explained.awk" "$top_srcdir/results/coverage/uncovered.md" coverage.lines ||
	failed="${failed:+$failed; }results/coverage/uncovered.md is not what was seen"
echo "Time: $(($(date +%s) - started)) s; every line: $COVERAGE_BUILD/coverage.info (lcov's format, genhtml makes pages of it)"
[ -z "$failed" ] || { echo "coverage: $failed" >&2; exit 1; }
