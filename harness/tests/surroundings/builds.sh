#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# builds.sh [NAME...]: builds libraries and peers once more by other compilers, with other options and for another C
# library, each in BUILDS/NAME, and certifies some functions of both APIs there with the cases of the present build (a
# peer of another C library is started as on another machine would be). Says of each what was done, by which command and
# with which result. FUNCTIONS names other functions. The last line counts cases: N passed, N failed, N skipped.
set -u
some='scif_bind scif_connect scif_accept scif_send scif_recv scif_register scif_mmap scif_vwriteto scif_fence_signal scif_poll
	rsm_memseg_export_publish rsm_memseg_import_connect rsm_memseg_import_put rsm_memseg_import_map
	rsm_memseg_import_init_barrier rsm_intr_signal_wait'
functions=${FUNCTIONS:-$some}
cts=$top_builddir/harness/runner/scif-cts
passed=0 failed=0 skipped=0
unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX CFLAGS LDFLAGS TESTS

# lacks COMMAND...: a skip, where one of them is missing.
lacks() {
	for needed in "$@"; do
		command -v "$needed" >/dev/null || { reason="there is no $needed"; return 0; }
	done
	return 1
}

# build OPTION...: of ./configure; the log is what is shown when it fails.
build() {
	said="./configure $*"
	mkdir -p "$build" && cd "$build" || exit 2
	[ -f Makefile ] || "$top_srcdir/configure" -q --disable-suite "$@" >build.log 2>&1 || return 1
	make -s libscif.la librsm.la scif-cts-peer rsm-cts-peer >>build.log 2>&1
}

# count FILE: the results that a certification or a run of tests closes with.
count() {
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" | tail -n 1)
	[ -n "$counts" ] || { tail -n 5 "$1" | sed 's/^/# /'; counts='0 passed, 1 failed, 0 skipped'; }
	# shellcheck disable=SC2086
	set -- $(echo $counts | tr -dc '0-9 ')
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# certify API IMPL [OPTION...]: the functions of that API.
certify() {
	api=$1 impl=$2
	shift 2
	wanted=$(for function in $functions; do case $function in "${api}"_*) echo "$function" ;; esac; done | paste -s -d , -)
	[ -n "$wanted" ] || return
	rm -rf "$build/results/$api"
	SCIF_PROVIDER=embedded CTS_PEER=$build/.libs/$api-cts-peer "$cts" certify --api "$api" --impl "$impl" \
		--label "$api" --results "$build/results" --filter "$wanted" --timeout-scale 4 \
		--node-adapter "$top_builddir/scif-fabric node" --port-adapter "$top_builddir/scif-fabric ports" \
		--version-adapter "sh $top_srcdir/harness/tests/fabric/other-version.sh $top_builddir/scif-fabric-next" \
		"$@" >"$build/$api.log" 2>&1
	count "$build/$api.log"
	echo "$name, $api: $counts: scif-cts certify --filter $wanted, built by: $said"
	grep -h '^not ok' "$build/results/$api/results.tap" 2>/dev/null
}

# The libraries of that build under the cases of this one.
certify_both() {
	certify scif "$build/.libs/libscif.so"
	certify rsm "$build/.libs/librsm.so" --scif "$build/.libs/libscif.so"
}

# judge NAME STATUS: what a test program came to.
judge() {
	case $2 in
	0) passed=$((passed + 1)) verdict=passed ;;
	77) skipped=$((skipped + 1)) verdict=skipped ;;
	*) failed=$((failed + 1)) verdict="failed with status $2" ;;
	esac
	echo "$name, $1: $verdict"
}

# Programs on both libraries, and two processes that exchange lines, all by that C library. Then its peers against the
# cases and libraries of the present build, each end by a C library of its own.
try_musl() {
	for program in $musl_programs; do
		make -s "$program" >"$program.log" 2>&1 || { judge "$program, which cannot be built" $?; continue; }
		top_srcdir=$top_srcdir top_builddir=$build SCIF_PROVIDER=embedded timeout 600 "./$program" >"$program.log" 2>&1
		judge "$program" $?
	done
	make -s without-calls >exchange.log 2>&1
	CC='musl-gcc -isystem kernel' top_builddir=$build SCIF_PROVIDER=embedded \
		sh "$top_srcdir/harness/tests/surroundings/exchange.tap" >exchange.log 2>&1
	awk '/^not ok/ { f++; next } /# SKIP/ { s++; next } /^ok/ { p++ }
		END { printf "%d passed, %d failed, %d skipped\n", p, f + !(p + f + s), s }' exchange.log >exchange.counts
	count exchange.counts
	echo "$name, exchange.tap: $counts"
	SCIF_CTS_PEER_LAUNCH="env -u LD_PRELOAD -u CTS_IMPL -u CTS_SCIF LD_LIBRARY_PATH=$build/.libs"
	export SCIF_CTS_PEER_LAUNCH
	certify scif "$top_builddir/.libs/libscif.so"
	certify rsm "$top_builddir/.libs/librsm.so" --scif "$top_builddir/.libs/libscif.so"
	unset SCIF_CTS_PEER_LAUNCH
}
musl_programs='foreign-faults memory-returned message-ways found-memory siblings many-windows rsm-claims rsm-edges'

# The kernel's own headers, which the compiler's script leaves out.
kernel_headers() {
	mkdir -p "$build/kernel"
	ln -sfn /usr/include/linux "$build/kernel/linux"
	ln -sfn /usr/include/asm-generic "$build/kernel/asm-generic"
	for place in "/usr/include/$(gcc -print-multiarch)/asm" /usr/include/asm; do
		[ ! -d "$place" ] || { ln -sfn "$place" "$build/kernel/asm"; break; }
	done
}

# in_surroundings NAME: 0: built; 1: not; 77: cannot be.
in_surroundings() {
	case $1 in
	gcc) lacks gcc && return 77; build CC=gcc CFLAGS='-g -O2' ;;
	gcc-O0) lacks gcc && return 77; build CC=gcc CFLAGS='-g -O0' ;;
	gcc-O3-lto)
		lacks gcc gcc-ar && return 77
		build CC=gcc CFLAGS='-O3 -flto' AR=gcc-ar RANLIB=gcc-ranlib NM=gcc-nm
		;;
	gcc-fortify3) lacks gcc && return 77; build CC=gcc CFLAGS='-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3' ;;
	gcc-cet)
		lacks gcc && return 77
		build CC=gcc CFLAGS='-O2 -fcf-protection=full' LDFLAGS='-Wl,-z,shstk -Wl,-z,ibt'
		;;
	clang) lacks clang && return 77; build CC=clang CFLAGS='-g -O2' ;;
	clang-O0) lacks clang && return 77; build CC=clang CFLAGS='-g -O0' ;;
	clang-O3-lto)
		lacks clang ld.lld llvm-ar && return 77
		build CC=clang CFLAGS='-O3 -flto' LDFLAGS='-fuse-ld=lld' AR=llvm-ar RANLIB=llvm-ranlib NM=llvm-nm
		;;
	musl)
		lacks musl-gcc && return 77
		kernel_headers
		build CC=musl-gcc CFLAGS='-g -O2' CPPFLAGS="-isystem $build/kernel" --without-libpci
		;;
	*) echo "builds.sh: there is no build $1" >&2; exit 2 ;;
	esac
}

for name in ${*:-gcc-O0 gcc-O3-lto gcc-fortify3 gcc-cet clang clang-O3-lto musl}; do
	build=$BUILDS/$name
	in_surroundings "$name"
	case $? in
	0) case $name in musl) try_musl ;; *) certify_both ;; esac ;;
	77)
		echo "$name: skipped: $reason"
		skipped=$((skipped + 1))
		;;
	*)
		echo "$name: it cannot be built: $said"
		tail -n 20 "$build/build.log" | sed 's/^/# /'
		failed=$((failed + 1))
		;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
