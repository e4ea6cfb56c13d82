#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# sanitize.sh address|undefined|thread|address,undefined [FUNCTION...]: builds everything once more with that sanitizer,
# or both, in SANITIZER_BUILD/KIND, and runs the suites of both APIs there, or of the functions. PART=i/n in the
# environment runs each n-th clause only, PART=threads those of threaded-cases.sh. Libraries with a sanitizer are linked
# with cases and peers instead of preloaded. Fails when the sanitizer reports anything or a case fails. The last line
# counts both: N passed, N failed, N skipped.
set -eu
here=$top_srcdir/harness/tests/tree
kind=$1
shift
# A comma would end a folder's name where the linker is told of it.
name=$(printf %s "$kind" | tr , -)
build=$SANITIZER_BUILD/$name
reports=$build/reports
jobs=$(nproc)
unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX CFLAGS TESTS || true

mkdir -p "$build"
cd "$build"
ccache=$(command -v ccache) || ccache=
[ -f Makefile ] || "$top_srcdir/configure" -q --enable-sanitizer="$kind" CC="${SANITIZER_CC:-${ccache:+$ccache }gcc}" CFLAGS='-g -O1'
make -s -j"$jobs" all

# Some processes are other users for a while, and a report has to be written then as well.
rm -rf "$reports"
mkdir "$reports"
chmod a+rwx "$reports"
ASAN_OPTIONS=log_path=$reports/report:detect_leaks=0:allocator_may_return_null=1
UBSAN_OPTIONS=log_path=$reports/report:print_stacktrace=1
# A case whose process has reported something goes on: what it does next may be reported as well. Forked processes
# of a threaded one may start threads: the library makes sure itself that they can. Threads may be asleep in a call
# when the case ends, for that is what it is about.
TSAN_OPTIONS=log_path=$reports/report:exitcode=0:die_after_fork=0:report_thread_leaks=0
TSAN_OPTIONS=$TSAN_OPTIONS:suppressions=$here/tsan.supp
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS top_srcdir
top_builddir=$build
export top_builddir

# A program with ThreadSanitizer starts only where addresses are not spread too far, one with AddressSanitizer only where
# it may have terabytes of them.
plainly=
[ "$kind" != thread ] || ! setarch -R true 2>/dev/null || plainly='setarch -R'
if ! $plainly ./scif-cts-peer --help >"$build/start.log" 2>&1; then
	echo "programs with the sanitizer do not start here: $(sed -n 1p "$build/start.log")"
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
fi

passed=0 failed=0 skipped=0
for api in scif rsm; do
	label=$name-$api
	case ${PART-} in
	'') part= ;;
	threads) part="--filter $(sh "$here/threaded-cases.sh" $api | cut -f 1 | paste -s -d , -)" ;;
	*) part="--shard $PART" ;;
	esac
	wanted=
	for function in "$@"; do
		[ "${function%%_*}" != "$api" ] || wanted="$wanted${wanted:+,}$function"
	done
	[ $# -eq 0 ] || [ -n "$wanted" ] || continue
	rm -rf "$build/results/$label"
	# shellcheck disable=SC2086
	$plainly sh "$here/certify-reference.sh" "$api" "$label" --timeout-scale 10 $part \
		${wanted:+--filter "$wanted"} >"$build/$label.log" 2>&1 || true
	tail -n 1 "$build/$label.log"
	counts=$(tail -n 1 "$build/results/$label/summary.txt") || { cat "$build/$label.log" >&2; exit 2; }
	grep '^not ok' "$build/results/$label/results.tap" || true
	passed=$((passed + ${counts%% passed*}))
	counts=${counts#* passed, }
	failed=$((failed + ${counts%% failed*}))
	counts=${counts#* failed, }
	skipped=$((skipped + ${counts%% skipped*}))
done
[ -f "$build/results/$name-scif/summary.txt" ] || [ -f "$build/results/$name-rsm/summary.txt" ] ||
	{ echo "sanitize.sh: there is no function $*" >&2; exit 2; }

# The same place is reported by many processes; what is shown is one report of each.
# Some files hold no more than a word of the sanitizer about itself.
findings=$(grep -lE '^SUMMARY: |runtime error: |FATAL: ' "$reports"/* 2>/dev/null | wc -l)
grep -hE '^SUMMARY: |runtime error: |FATAL: ' "$reports"/* 2>/dev/null | sort | uniq -c | sort -rn || true
[ "$findings" -eq 0 ] || echo "$findings processes with reports of the sanitizer: $reports"
echo "$passed passed, $((failed + findings)) failed, $skipped skipped"
[ $((failed + findings)) -eq 0 ]
