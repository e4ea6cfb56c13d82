#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# build-mutant.sh NAME scif|rsm FOLDER: makes FOLDER/NAME/libscif.so or librsm.so, the library just built with the
# change that source.txt has under NAME. The objects of the other files are those of the build tree.
set -eu
name=$1 api=$2 folder=$3/$1
cd "$top_builddir"
. ./harness/mutants/library.env
mkdir -p "$folder"
awk -v name="$name" -v top="$top_srcdir" -v folder="$folder" -f "$top_srcdir/harness/mutants/change-source.awk" \
	"$top_srcdir/harness/mutants/source.txt" >"$folder/files"

case $api in
scif) objects=$scif_objects compile=$scif_compile link=$scif_link ;;
rsm) objects=$rsm_objects compile=$rsm_compile link=$rsm_link ;;
esac
# libtool's object a/b.lo is a/.libs/b.o.
objects=$(for object in $objects; do echo "${object%/*}/.libs/$(basename "$object" .lo).o"; done)
while read -r file; do
	stem=$(basename "$file" .c)
	# shellcheck disable=SC2086
	$compile -iquote "$top_srcdir/${file%/*}" -fPIC -c "$folder/$file" -o "$folder/$stem.o"
	objects=$(for object in $objects; do
		case $object in
		*"/lib${api}_la-$stem.o") echo "$folder/$stem.o" ;;
		*) echo "$object" ;;
		esac
	done)
	case $objects in
	*"$folder/$stem.o"*) ;;
	*) echo "$file is no file of lib$api" >&2 && exit 1 ;;
	esac
done <"$folder/files"
# shellcheck disable=SC2086
$link -shared -o "$folder/lib$api.so" $objects $([ "$api" != rsm ] || echo .libs/libscif.so) -lpthread -ldl
