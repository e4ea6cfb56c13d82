#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fuzz.sh [TARGET...]: builds the library and the targets (greeting, schedule) with clang, libFuzzer and AddressSanitizer in
# FUZZ_BUILD and lets each run for FUZZ_SECONDS. New inputs go to FUZZ_BUILD/corpus/TARGET, what broke a property to
# FUZZ_BUILD/found. FUZZ_MERGE=1 instead leaves in the committed corpus the fewest inputs that reach what all of them do.
set -eu
here=$top_srcdir/harness/fuzz
[ -n "$CLANG" ] || {
	echo "fuzz: clang was not found: apt-get install clang libclang-rt-dev" >&2
	exit 1
}
unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX CFLAGS TESTS || true
mkdir -p "$FUZZ_BUILD" "$FUZZ_BUILD/found"
cd "$FUZZ_BUILD"
ccache=$(command -v ccache) || ccache=
[ -f Makefile ] || "$top_srcdir/configure" -q --disable-suite --enable-sanitizer=fuzzer-no-link,address \
	CC="${ccache:+$ccache }$CLANG" CFLAGS='-g -O1' >/dev/null
make -s fuzz-greeting fuzz-schedule

# What the library allocates for a connection is freed with the connection; what is allocated once stays.
# A variable on the stack is on the stack, where calls may write results.
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0
export ASAN_OPTIONS
for target in ${*:-greeting schedule}; do
	mkdir -p "corpus/$target"
	if [ -n "${FUZZ_MERGE-}" ]; then
		rm -rf "merged/$target"
		mkdir -p "merged/$target"
		"./fuzz-$target" -set_cover_merge=1 -timeout=60 -print_funcs=0 "merged/$target" "$here/corpus/$target" "corpus/$target"
		rm -f "$here/corpus/$target"/*
		cp "merged/$target"/* "$here/corpus/$target"
		continue
	fi
	"./fuzz-$target" -max_total_time="$FUZZ_SECONDS" -timeout=60 -rss_limit_mb=4096 -max_len=512 \
		-print_final_stats=1 -print_funcs=0 -artifact_prefix="found/$target-" "corpus/$target" "$here/corpus/$target" "$here/found/$target"
done
