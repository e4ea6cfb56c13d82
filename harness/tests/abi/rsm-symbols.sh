#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The dynamic symbol table of librsm.so.2: the 42 functions in node SUNWprivate_1.1 and nothing else;
# of libscif only functions that scif.h declares, so that it runs on any libscif.
set -u
library=$top_builddir/.libs/librsm.so.2
here=$top_srcdir/harness/tests/abi
command -v readelf >/dev/null 2>&1 || {
	echo "readelf is not installed"
	exit 77
}
[ -e "$library" ] || {
	echo "$library is not built"
	exit 99
}
status=0

differ() { # WHAT FOUND WANTED
	[ "$2" = "$3" ] && return
	echo "$1:"
	echo "$2"
	echo "must be:"
	echo "$3"
	status=1
}

differ "soname" "$(readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" librsm.so.2
differ "libraries needed" \
	"$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -v '^libasan\|^libtsan\|^libubsan' | sort | tr '\n' ' ')" \
	"libc.so.6 libscif.so.0 "

symbols=$(readelf --dyn-syms -W "$library" | awk '$1 ~ /^[0-9]+:$/ && $5 != "LOCAL"')
# The name of the version node itself is absolute and left out.
exported=$(echo "$symbols" | awk '$7 != "UND" && $7 != "ABS" { print $8 }' | sort)
differ "exported" "$exported" \
	"$(sed -n 's/^FUNCTION(\([^,]*\),.*/\1@@SUNWprivate_1.1/p' "$here/rsm-functions.def" | sort)"

# What it takes from elsewhere and the C library does not have.
taken=$(echo "$symbols" |
	awk '$7 == "UND" && $5 != "WEAK" && $8 !~ /@GLIBC/ { sub("@.*", "", $8); print $8 }' |
	grep -v '^__asan\|^__tsan\|^__ubsan\|^__sanitizer' | sort)
public=$(sed -n 's/^FUNCTION(\([^,]*\),.*/\1/p' "$here/functions.def" | sort)
for name in $taken; do
	if ! echo "$public" | grep -qx "$name"; then
		echo "$name is used, which is no function of the real libscif"
		status=1
	fi
done
if [ -z "$taken" ]; then
	echo "no function of libscif is used"
	status=1
fi

echo "$(echo "$exported" | wc -l) functions exported, $(echo "$taken" | wc -l) of libscif used"
exit $status
