#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The library's dynamic symbol table: soname libscif.so.0, the 21 functions of the real library in
# node SCIF_0.0, scif_event_register in a node of its own, and nothing else.
set -u
library=$top_builddir/.libs/libscif.so.0
command -v readelf >/dev/null 2>&1 || {
	echo "readelf is not installed"
	exit 77
}
[ -e "$library" ] || {
	echo "$library is not built"
	exit 99
}
status=0

soname=$(readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$soname" != libscif.so.0 ]; then
	echo "the soname is '$soname', must be libscif.so.0"
	status=1
fi

wanted=$({
	sed -n 's/^FUNCTION(\([^,]*\),.*/\1@@SCIF_0.0/p' "$top_srcdir/harness/tests/abi/functions.def"
	echo scif_event_register@@SCIF_EVENT_1.0
} | sort)
# Defined symbols; the names of the version nodes themselves are absolute and left out.
found=$(readelf --dyn-syms -W "$library" |
	awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && $7 != "ABS" && $5 != "LOCAL" { print $8 }' | sort)
if [ "$found" != "$wanted" ]; then
	echo "exported:"
	echo "$found"
	echo "must be:"
	echo "$wanted"
	status=1
fi

# The new node must not stand on the old one: old programs see only what they know.
if readelf -VW "$library" | sed -n '/Version definition/,/Version needs/p' |
	grep -q 'Parent'; then
	echo "a version node inherits from another"
	status=1
fi
echo "$(echo "$found" | wc -l) symbols"
exit $status
