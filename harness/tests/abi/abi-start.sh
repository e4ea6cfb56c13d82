#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program linked against another library of the real one's soname and version starts on ours: libscif and librsm.
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

# starts SONAME VERSION-NODE HEADER FUNCTIONS PROGRAM
starts() {
	soname=$1 node=$2 header=$3 functions=$4 program=$5
	mkdir "$work/$soname" || exit 99
	{
		echo "#include \"$header\""
		echo '#define FUNCTION(name, result, parameters) result name parameters;'
		echo "#include \"$functions\""
		sed -n 's/^FUNCTION(\([^,]*\), *\([^,]*\), *\(.*\))$/\1|\2|\3/p' "$here/$functions" |
			while IFS='|' read -r name result parameters; do
				value="($result)(intptr_t)-77"
				[ "$result" = void ] && value=
				echo "__typeof__(($result)0) other_$name(void)" \
					"__asm__(\"$name\"); __typeof__(($result)0) other_$name(void)" \
					"{ return $value; }"
			done
	} >"$work/other.c"
	{
		echo "$node { global:"
		sed -n 's/^FUNCTION(\([^,]*\),.*/\1;/p' "$here/$functions"
		echo 'local: *; };'
	} >"$work/other.map"
	"$cc" -shared -fPIC -w -I"$top_srcdir/include" -I"$here" -Wl,-soname,"$soname" \
		-Wl,--version-script="$work/other.map" -o "$work/$soname/$soname" "$work/other.c" || exit 99
	"$cc" -I"$top_srcdir/include" -I"$here" -o "$work/program" "$here/$program" \
		"$work/$soname/$soname" || exit 99

	LD_LIBRARY_PATH=$work/$soname "$work/program" >"$work/on-other"
	other=$?
	if [ "$other" -ne 3 ]; then
		echo "on the $soname it was linked against the program ended with $other, must be 3"
		cat "$work/on-other"
		exit 99
	fi
	LD_BIND_NOW=1 LD_LIBRARY_PATH=$top_builddir/.libs "$work/program"
}

starts libscif.so.0 SCIF_0.0 scif.h functions.def abi-program.c || exit 1
starts librsm.so.2 SUNWprivate_1.1 rsmapi.h rsm-functions.def rsm-program.c || exit 1
