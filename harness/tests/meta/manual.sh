#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every installed program and every public function has a manual page; a program takes the options and commands that
# its page has, and no others; what it prints of its usage, and the variables of the environment, are those of the one
# place that has them; mandoc finds nothing to complain about. With UPDATE=1 the variables are put into the pages.
set -u
docs=$top_srcdir/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

complain() {
	echo "$*" >&2
	wrong=1
}
# made VARIABLE: its words, as the Makefile of this build has it.
made() {
	printf 'include Makefile\nprint-words:\n\t@echo words: $(%s)\n' "$1" |
		MAKEFLAGS='' make -s -C "$top_builddir" -f - print-words | sed -n 's/^words: //p' | tr ' ' '\n' | sed '/^$/d'
}
usage_of() {
	awk -f "$docs/usage.awk" "$1"
}
page_of() {
	case $1 in
	rsm-cts-peer) echo "$docs/scif-cts-peer.1" ;;
	*) echo "$docs/$1.1" ;;
	esac
}
# Where the options of a program are read.
source_of() {
	case $1 in
	scif-cts) echo harness/runner/settings.c ;;
	scif-fabric) echo ref/embedded/scif-fabric.c ;;
	scif-bench) echo bench/main.c ;;
	knc-info) echo ref/hw/knc-info.c ;;
	scif-cts-card) echo harness/target/scif-cts-card ;;
	*-peer) echo harness/peer/main.c ;;
	esac
}
# The options that the source reads: getopt_long()'s tables, compared words, or a case of the shell.
options_of_source() {
	case $1 in
	*.c)
		grep -o '{"[a-z-]*", \(no\|required\)_argument' "$1" | sed 's/{"\([a-z-]*\)".*/--\1/'
		sed -n 's/.*getopt_long([^"]*"[+:]*\([^"]*\)".*/\1/p' "$1" | tr -d : | sed 's/./-&\n/g'
		sed -n 's/.*strcmp(argv\[[a-z0-9]*\], "\(-[a-z-]*\)").*/&/p' "$1" | grep -o '"-[a-z-]*"' | tr -d '"'
		;;
	*)
		sed -n '/^while \[ \$# -gt 0 \]/,/^done/p' "$1" | sed -n 's/^\t\(-[-a-z| ]*\)).*/\1/p' | tr -d ' ' | tr '|' '\n'
		;;
	esac | grep -v '^-*$' | sort -u
}
options_of_page() {
	usage_of "$1" | sed -n 's/^  \(-[^ ,]*\(, --[^ ]*\)\{0,1\}\).*/\1/p' | tr -d ' ' | tr ',' '\n' | sort -u
}
commands_of_page() {
	usage_of "$1" | sed -n '/^$/,/^$/s/^  \([a-z-]*\)  .*/\1/p' | sort
}

made bin_PROGRAMS >"$work/programs"
made dist_bin_SCRIPTS >>"$work/programs"
for man in man_MANS dist_man_MANS man3_MANS; do
	made $man
done >"$work/pages"
[ -s "$work/programs" ] && [ -s "$work/pages" ] || complain 'the Makefile names no programs or pages'

for program in $(sed 's,.*/,,' "$work/programs"); do
	grep -q "\(^\|/\)$program\.1$" "$work/pages" || { complain "$program has no manual page"; continue; }
	page=$(page_of "$program")
	source=$(source_of "$program")
	[ -n "$source" ] || { complain "where does $program read its options?"; continue; }
	options_of_source "$top_srcdir/$source" >"$work/read"
	options_of_page "$page" >"$work/told"
	diff "$work/told" "$work/read" >&2 || complain "$program takes other options (>) than its page has (<)"
	usage_of "$page" >"$work/usage"
	! grep '^  [^ ].\{98\}' "$work/usage" || complain "$page: the first sentence of an item is too long for --help"
	[ "$program" != scif-cts ] || continue
	built=$top_builddir/$program
	[ -x "$built" ] || built=$top_builddir/bench/$program
	[ -x "$built" ] || built=$top_srcdir/harness/target/$program
	"$built" --help | diff "$work/usage" - >&2 || complain "$program --help (>) is not what its page gives (<)"
done

commands_of_page "$docs/scif-cts.1" >"$work/told"
sed -n 's/^\t{"\([a-z-]*\)", command_.*/\1/p' "$top_srcdir/harness/runner/main.c" | sort >"$work/read"
diff "$work/told" "$work/read" >&2 || complain 'scif-cts takes other commands (>) than its page has (<)'
while read -r command; do
	"$top_builddir/harness/runner/scif-cts" "$command" --help >"$work/help" && grep -q "^usage: scif-cts $command\b" "$work/help" ||
		complain "scif-cts $command --help"
done <"$work/told"

# Functions: those with clauses, and whatever else the libraries export.
{
	"$top_builddir/harness/runner/scif-cts" list functions | sed 1d | cut -f 1
	nm -D --defined-only "$top_builddir/.libs/libscif.so" "$top_builddir/.libs/librsm.so" | awk 'NF == 3 && $2 == "T" { print $3 }'
} | sed 's/@.*//' | sort -u >"$work/functions"
[ "$(wc -l <"$work/functions")" -ge 65 ] || complain "only $(wc -l <"$work/functions") functions were found"
while read -r function; do
	grep -q "/$function\.3$" "$work/pages" || complain "$function has no manual page"
done <"$work/functions"

for page in "$docs"/*.[17]; do
	awk -f "$docs/environment.awk" "$docs/environment.mdoc" "$page" >"$work/page" || complain "$page: marks or names of variables"
	if [ -n "${UPDATE-}" ]; then
		cp "$work/page" "$page"
	else
		diff "$page" "$work/page" >&2 || complain "$page describes a variable otherwise than docs/environment.mdoc: make update-manual"
	fi
done

if ! command -v mandoc >/dev/null; then
	echo 'mandoc is not there, so the pages are not linted'
	[ $wrong -ne 0 ] || exit 77
fi
while read -r page; do
	[ -f "$top_builddir/$page" ] && page=$top_builddir/$page || page=$top_srcdir/$page
	mandoc -T lint -W warning "$page" || complain "$page: mandoc complains"
done <"$work/pages"
exit $wrong
