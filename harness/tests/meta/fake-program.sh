#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A case program that behaves as the last words of the clauses' ids say, for tests of the runner.
# record VERDICT KIND OBSERVED EXPECTED REASON CHOICE
record() {
	line=$(printf '{"id":"%s","verdict":"%s","kind":"%s","observed":"%s","expected":"%s",' \
		"${record_id:-$id}" "$1" "$2" "$3" "$4")
	printf '%s"reason":"%s","choice":"%s","ms":1.5}\n' "$line" "$5" "$6" >>"$CTS_RECORDS"
}

# A process of this session that outlives the program; its number goes to the file that WITNESS names.
leave_process() {
	tail -f /dev/null >/dev/null 2>&1 &
	echo $! >"$WITNESS"
}

run_case() {
	id=$1
	echo "== $id" >&2
	case $id in
	*-PASS) record PASS '' 7 '>= 0' ;;
	*-BUSY) record PASS '' '-1 EBUSY' '-1 EBUSY' ;;
	*-EITHER) record PASS '' '-1 ENOMEM' '-1 EINVAL or ENOMEM' ;;
	*-CHOICE) record PASS '' 3 any '' fake-choice ;;
	*-LONG) record PASS '' 9 '>= 0' ;;
	*-UNTESTED) record UNTESTED '' '' '' 'needs something' ;;
	*-FAIL)
		printf 'what the case printed \001 <&> \377\n'
		record FAIL value 1 '>= 2' 'too small'
		;;
	*-ERRNO) record FAIL errno '-1 EINVAL' '-1 EPIPE' '' ;;
	*-CRASH) kill -SEGV $$ ;;
	*-HANG)
		[ -z "${WITNESS-}" ] || leave_process
		exec tail -f /dev/null
		;;
	*-SILENT) exit 3 ;;
	*-TWICE)
		record PASS
		record PASS
		;;
	*-FOREIGN) record_id=FAKE-OPEN-PASS record PASS ;;
	*-GARBAGE) echo 'no record' >>"$CTS_RECORDS" ;;
	*-UNRESOLVED) record UNRESOLVED '' '' '' 'no peer' ;;
	*-ORPHAN)
		[ -z "${WITNESS-}" ] || leave_process
		record PASS '' 1 1
		;;
	*-ENVIRONMENT)
		case $LD_PRELOAD in
		"$CTS_IMPL"*) ;;
		*) record FAIL value "$LD_PRELOAD" "$CTS_IMPL" 'not preloaded' && return ;;
		esac
		[ "$CTS_SEED" = 1 ] && [ -z "${SCIF_NODE-}" ] && [ -z "${SCIF_FABRIC-}" ] &&
			[ "$CTS_NODE_ADAPTER" = 'nodes now' ] && [ "$CTS_PORT_ADAPTER" = 'ports now' ] ||
			{ record FAIL value "$CTS_SEED" 1 'environment' && return; }
		record PASS '' 1 1
		;;
	esac
}

[ "${1-}" != --list ] || exec echo "${0##*/}"

if [ "${1-}" = --open ]; then
	[ "${SCIF_PROVIDER-}" = wrong ] || [ -n "${FAKE_DRIVER_ABSENT-}" ] && exec echo ENXIO
	exec echo 0
fi

cases=
while [ $# -gt 0 ]; do
	[ "$1" = --case ] && cases="$cases $2"
	shift
done
for case in $cases; do
	run_case "$case"
done
