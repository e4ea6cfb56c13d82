#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# certify-target.sh scif|rsm LABEL [OPTION...]: certifies the library just built on what target.chosen says, a card
# or its driver, under the profile knc. The report goes to results/LABEL in the build folder.
#
# For a card: CARD_BUILD is the build for it, CARD_OPTIONS more options of scif-cts-card. SCIF_CTS_PEER_LAUNCH
# stands instead of both where it is set.
set -eu
read -r target node card provider why <"${target_chosen:-$top_builddir/target.chosen}"
if [ "$target" = embedded ]; then
	exec sh "$top_srcdir/harness/tests/tree/certify-reference.sh" "$@"
fi
api=$1 label=$2
shift 2
[ "$api" != rsm ] || set -- --scif "$top_builddir/.libs/libscif.so" \
	--waivers "$top_srcdir/harness/tests/tree/rsm-knc-waivers.yaml" "$@"
SCIF_PROVIDER=$provider
export SCIF_PROVIDER
shared=

end_connection() {
	[ -z "$shared" ] || $ssh -O exit "$card" 2>/dev/null || true
	[ -z "$shared" ] || rm -rf "$shared"
}
trap end_connection EXIT

# One connection for all peers: a login takes a card longer than most cases.
reach_card() {
	shared=$(mktemp -d)
	ssh="ssh -o BatchMode=yes -o ControlMaster=auto -o ControlPath=$shared/%n -o ControlPersist=600"
	ssh="$ssh -o ServerAliveInterval=5"
	tool="sh $top_srcdir/harness/target/scif-cts-card --build '${CARD_BUILD:-$top_builddir/card}' --ssh '$ssh'"
	tool="$tool ${CARD_OPTIONS:-} $card"
	eval "$tool install"
	SCIF_CTS_PEER_LAUNCH="$tool peer"
	export SCIF_CTS_PEER_LAUNCH
}

if [ "$target" = hw ]; then
	echo "certify: $card, node $node" >&2
	if [ -z "${SCIF_CTS_PEER_LAUNCH:-}" ]; then
		reach_card
		set -- --node-adapter "$tool node" "$@"
	fi
fi

# One case at a time: all of them share the ports of one node. A card, or an emulated machine, is slow.
"$top_builddir/harness/runner/scif-cts" certify --api "$api" --impl "$top_builddir/.libs/lib$api.so" \
	--label "$label" --results "$top_builddir/results" --profile knc --jobs 1 --timeout-scale 10 "$@"
