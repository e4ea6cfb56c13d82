#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# update-results.sh [LABEL...]: makes the certifications of results/ again by the commands of results/README.md, all or
# these. They name /usr/local, as an installed copy has it; here that is a folder which only this script sees.
set -eu
here=$top_srcdir/harness/tests
results=$top_srcdir/results
prefix=/usr/local

refuse() {
	echo "update-results: $*; it was left as it was" >&2
	exit 1
}

# Begins this script once more, in a mount namespace of its own.
begin_again() {
	[ "$configured_prefix" = $prefix ] || refuse "the tree is configured for $configured_prefix, the results name $prefix"
	[ "$(id -u)" -eq 0 ] || refuse 'only root gets all clauses tested, and a private /usr/local'
	[ -w "$results" ] || refuse "$results cannot be written"
	unshare --mount true 2>/dev/null || refuse 'this machine does not allow a mount namespace (unshare --mount)'
	UPDATE_RESULTS_SCRATCH=$(mktemp -d)
	export UPDATE_RESULTS_SCRATCH
	trap 'rm -rf "$UPDATE_RESULTS_SCRATCH"' EXIT
	unshare --mount "${SHELL:-/bin/sh}" "$0" "$@"
}

install_tree() {
	mkdir "$scratch/local" "$scratch/made"
	mount --bind "$scratch/local" $prefix
	make -C "$top_builddir" -s install >"$scratch/install.log" 2>&1 || { cat "$scratch/install.log" >&2; exit 1; }
	for built in .libs/libscif-standin.so scif-standin-fabric harness/mutants/.libs/faults.so \
		harness/mutants/.libs/rsm_faults.so; do
		"$top_builddir/libtool" --silent --mode=install cp "$top_builddir/$built" $prefix/libexec/scif-cts/
	done
	ldconfig -C "$scratch/ld.so.cache"
	mount --bind "$scratch/ld.so.cache" /etc/ld.so.cache
}

# command_of LABEL: its command in results/README.md, on one line.
command_of() {
	awk -v label="$1" '
		/^    [A-Za-z]/ { command = $0; next }
		/^        / { command = command $0; next }
		{ if (command ~ " --label " label " ") print command; command = "" }
		END { if (command ~ " --label " label " ") print command }' "$results/README.md"
}

# The verdicts that LABEL must have: those of a right library, or the reviewed ones of a wrong one.
is_as_expected() {
	case $1 in
	planted-faults-scif) expected=faults ;;
	planted-faults-rsm) expected=rsm_faults ;;
	*) [ "$2" -eq 0 ]; return ;;
	esac
	[ "$2" -eq 1 ] && scif-cts diff-verdicts "$here/meta/expected/$expected.tsv" "$scratch/made/$1/results.json"
}

# Nobody is to read where this was made.
names_private_places() {
	for place in "$top_srcdir" "$top_builddir" "$scratch" "$HOME/"; do
		case $place in
		/ | // | $prefix*) continue ;;
		esac
		! find "$1" -type f -exec zcat -f {} + | grep -qF -e "$place" || return 0
	done
	return 1
}

# make_again LABEL
make_again() {
	command=$(command_of "$1")
	[ -n "$command" ] || refuse "results/README.md has no command for $1"
	echo "$command" | tr -s ' '
	status=0
	eval "$command --results '$scratch/made'" >"$scratch/output" 2>&1 || status=$?
	tail -n 2 "$scratch/output"
	is_as_expected "$1" $status || { cat "$scratch/output" >&2; refuse "$1 is not what it is to be"; }
	scif-cts verify "$scratch/made/$1"
	! names_private_places "$scratch/made/$1" || refuse "$1 names places of this machine"
}

# A function, so that the shell has read all of this before the long runs begin.
update() {
	scratch=$UPDATE_RESULTS_SCRATCH
	PATH=$prefix/bin:$PATH SCIF_PROVIDER=embedded
	export PATH SCIF_PROVIDER
	install_tree
	[ $# -gt 0 ] || set -- reference reference-rsm standin-knc planted-faults-scif planted-faults-rsm
	cd "$scratch"
	for label in "$@"; do
		make_again "$label"
		rm -rf "${results:?}/$label"
		cp -r "$scratch/made/$label" "$results/$label"
	done
}

if [ -n "${UPDATE_RESULTS_SCRATCH-}" ]; then
	update "$@"
else
	begin_again "$@"
fi
