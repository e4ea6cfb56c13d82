#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# librsm runs unchanged on a libscif that is not ours.  The library preloaded here has the real one's
# soname, version node and functions and nothing else, so that librsm cannot reach any other libscif;
# it counts the calls and passes them on.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
abi=$top_srcdir/harness/tests/abi

{
	echo 'SCIF_0.0 { global:'
	sed -n 's/^FUNCTION(\([^,]*\),.*/\1;/p' "$abi/functions.def"
	echo 'local: *; };'
} >"$work/other.map"
# shellcheck disable=SC2086
$CC -D_GNU_SOURCE -shared -fPIC -Wall -Wextra -Werror -I"$top_srcdir/include" -I"$abi" \
	-Wl,-soname,libscif.so.0 -Wl,--version-script="$work/other.map" -Wl,--no-undefined-version \
	-o "$work/libother.so" "$top_srcdir/harness/tests/rsm/other-libscif.c" || exit 99

OTHER_BELOW=$top_builddir/.libs/libscif.so.0 OTHER_LOG=$work/calls SCIF_OTHER=$work/libother.so
export OTHER_BELOW OTHER_LOG SCIF_OTHER
status=0
sh "$top_srcdir/harness/tests/rsm/exchange.sh" || status=1

# By both processes, and all that an exchange of signals and data takes.
for name in scif_open scif_bind scif_listen scif_connect scif_accept scif_send scif_recv \
	scif_register scif_vwriteto scif_vreadfrom scif_close; do
	grep -q "^$name [1-9]" "$work/calls" || {
		echo "$name was not called"
		status=1
	}
done
[ "$(grep -c '^scif_open ' "$work/calls")" -ge 2 ] || {
	echo "the other library was used by fewer than two processes"
	status=1
}
awk '{ calls += $2 } END { print calls " calls went through the other libscif" }' "$work/calls"
exit $status
