#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh memcheck|helgrind [scif|rsm] [FUNCTION...]: short cases of the functions (default: all, of both APIs or of
# the one named) with case and peer under that tool of valgrind, two functions at a time. memcheck runs every case;
# helgrind those of threaded-cases.sh. Fails when the tool reports anything that TOOL.supp does not
# explain, or a case fails. Fault injection replaces malloc, as valgrind does, so those cases are UNTESTED. The last line
# counts cases and reports: N passed, N failed, N skipped.
set -eu
here=$top_srcdir/harness/tests/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Some processes are other users for a while.
chmod a+rwx "$work"
tool=$1
shift
case $tool in
memcheck) options="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" ;;
helgrind) options=--history-level=none ;;
*) echo "valgrind.sh: there is no tool $tool" >&2 && exit 2 ;;
esac
valgrind="valgrind -q --vgdb=no --tool=$tool --suppressions=$here/$tool.supp $options"

SCIF_CTS_PEER_LAUNCH="$valgrind --log-file=$work/peer.%p.report"
CTS_NODE_ADAPTER="$top_builddir/scif-fabric node"
CTS_PORT_ADAPTER="$top_builddir/scif-fabric ports"
SCIF_PROVIDER=embedded
export SCIF_CTS_PEER_LAUNCH CTS_NODE_ADAPTER CTS_PORT_ADAPTER SCIF_PROVIDER valgrind tool work

case ${1-} in
scif | rsm) only=$1 && shift ;;
*) only= ;;
esac
"$top_builddir/harness/runner/scif-cts" list functions | awk -F '\t' -v wanted=" $* " -v only="$only" \
	'NR > 1 && (only == "" || $2 == only) && (wanted == "  " || index(wanted, " " $1 " ")) { print $2, $1 }' \
	>"$work/functions"
[ -s "$work/functions" ] || { echo "valgrind.sh: there is no function $*" >&2; exit 2; }

[ "$tool" = memcheck ] || for api in scif rsm; do
	sh "$here/threaded-cases.sh" $api
done >"$work/threaded"

# valgrind does not follow the scripts that libtool puts before programs, and takes seconds to read debug information
# that only a report needs.
mkdir "$work/bin"
cp "$top_builddir"/.libs/lib*.so.[0-9] "$top_builddir"/.libs/scif-cts-peer "$top_builddir"/.libs/rsm-cts-peer "$work/bin"
while read -r api function; do
	cp "$top_builddir/conformance/$api/$function" "$work/bin"
done <"$work/functions"
strip -g "$work"/bin/*
LD_LIBRARY_PATH=$work/bin
export LD_LIBRARY_PATH

# Each with the variables that the runner sets for its cases.
xargs -P 2 -L 1 sh -c '
	api=$1 function=$2
	CTS_IMPL=$(ls "$work/bin/lib$api".so.*)
	CTS_PEER=$work/bin/$api-cts-peer
	export CTS_IMPL CTS_PEER
	if [ "$api" = rsm ]; then
		CTS_SCIF=$(ls "$work/bin/libscif".so.*)
		export CTS_SCIF
	fi
	cases=
	[ "$tool" = memcheck ] || cases=$(awk -F "\t" -v function_="$function" \
		"\$2 == function_ { print \"--case\", \$1 }" "$work/threaded")
	$valgrind --log-file=$work/case.%p.report "$work/bin/$function" \
		$cases --timeout-scale 40 >"$work/$function.tap" 2>"$work/$function.err" || true
	passed=$(grep "^ok" "$work/$function.tap" | grep -vc "# SKIP") || true
	[ "$passed" -gt 0 ] || echo "not ok - no case of $function passed" >>"$work/$function.tap"
	echo "$function: $passed passed, $(grep -c "^not ok" "$work/$function.tap") failed," \
		"$(grep -c "# SKIP" "$work/$function.tap") skipped"' sh <"$work/functions"

grep -h -A 2 '^not ok' "$work"/*.tap || true
# valgrind speaks of system calls that it does not know; that is no report about the program.
reports=0
for log in "$work"/*.report; do
	! grep -E '^==[0-9]+==' "$log" || reports=$((reports + 1))
done
[ $reports -eq 0 ] && echo "$tool reports nothing" || echo "$tool reports something in $reports processes"
failed=$(($(cat "$work"/*.tap | grep -c '^not ok' || true) + reports))
echo "$(cat "$work"/*.tap | grep '^ok' | grep -vc '# SKIP') passed, $failed failed," \
	"$(cat "$work"/*.tap | grep -c '# SKIP' || true) skipped"
[ $failed -eq 0 ]
