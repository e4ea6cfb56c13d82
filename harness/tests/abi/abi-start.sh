#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program linked against another library of the real one's soname and version starts on ours.
set -u
here=$top_srcdir/harness/tests/abi
work=abi-start.tmp
cc=${CC%% *}
command -v "$cc" >/dev/null 2>&1 || {
	echo "no C compiler"
	exit 77
}
rm -rf "$work"
mkdir "$work" || exit 99
trap 'rm -rf "$work"' EXIT

{
	echo '#include "scif.h"'
	echo '#define FUNCTION(name, result, parameters) result name parameters;'
	echo '#include "functions.def"'
	sed -n 's/^FUNCTION(\([^,]*\), *\([^,]*\), *\(.*\))$/\1|\2|\3/p' "$here/functions.def" |
		while IFS='|' read -r name result parameters; do
			echo "__typeof__(($result)0) other_$name(void)" \
				"__asm__(\"$name\"); __typeof__(($result)0) other_$name(void)" \
				"{ return ($result)(intptr_t)-77; }"
		done
} >"$work/other.c"
{
	echo 'SCIF_0.0 { global:'
	sed -n 's/^FUNCTION(\([^,]*\),.*/\1;/p' "$here/functions.def"
	echo 'local: *; };'
} >"$work/other.map"
"$cc" -shared -fPIC -w -I"$top_srcdir/include" -I"$here" -Wl,-soname,libscif.so.0 \
	-Wl,--version-script="$work/other.map" -o "$work/libscif.so.0" "$work/other.c" || exit 99
"$cc" -I"$top_srcdir/include" -I"$here" -o "$work/program" "$here/abi-program.c" \
	"$work/libscif.so.0" || exit 99

LD_LIBRARY_PATH=$work "$work/program" >"$work/on-other"
other=$?
if [ "$other" -ne 3 ]; then
	echo "on the library it was linked against the program ended with $other, must be 3"
	cat "$work/on-other"
	exit 99
fi
LD_BIND_NOW=1 LD_LIBRARY_PATH=$top_builddir/.libs "$work/program"
