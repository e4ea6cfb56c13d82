#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A case program that writes a record and a raw log for each clause of demo-plan.json. Clauses named in DEMO_BROKEN
# fail.
[ "${1-}" != --list ] || exec echo "${0##*/}"

# record VERDICT KIND OBSERVED EXPECTED CHOICE
record() {
	printf '{"id":"%s","verdict":"%s","kind":"%s","observed":"%s","expected":"%s","choice":"%s","reason":"%s","ms":1.5}\n' \
		"$id" "$1" "$2" "$3" "$4" "$5" "$6" >>"$CTS_RECORDS"
}
# log EVENTS
log() {
	printf '{"id":"%s","events":[["phase","needs"],["phase","setup"],%s]}\n' "$id" "$1" >>"$CTS_OBSERVATIONS"
}
end='["phase","teardown"],["end","finished",null]'
# error FUNCTION GIVEN: the events of a call that failed with the error.
error() {
	printf '["phase","call"],["call","%s",[],-1,"%s"],["result",-1,"%s",true],["phase","check"],["judge","documented"]' \
		"$1" "$2" "$2"
}

run_case() {
	id=$1 broken=
	echo "== $id" >&2
	case " ${DEMO_BROKEN-} " in *" $id "*) broken=yes ;; esac
	case $id in
	DEMO-OPEN-NUMBER-1)
		value=7
		[ -z "$broken" ] || value=0
		log "[\"phase\",\"call\"],[\"call\",\"demo_open\",[],$value,null],[\"result\",$value,null,false],[\"phase\",\"check\"],[\"judge\",\"documented\"],[\"returns\",$value,\">=\",1],[\"check\",true,\"ret < 100\"],$end"
		if [ -z "$broken" ]; then record PASS '' 7 '>= 1'; else record FAIL value 0 '>= 1' '' 'returns >= 1'; fi
		;;
	DEMO-OPEN-EBUSY-1)
		log "$(error demo_open EBUSY),[\"returns\",-1,\"==\",-1],[\"unchanged\",true,\"call\",\"flag\"],[\"phase\",\"repeat\"],[\"call\",\"demo_open\",[],-1,\"EBUSY\",{\"times\":2}],[\"again\",2,-1,\"EBUSY\"],[\"again\",3,-1,\"EBUSY\"],[\"growth\",true,\"\"],[\"unchanged\",true,\"repeated call\",\"flag\"],[\"phase\",\"control\"],[\"call\",\"demo_open\",[],3,null],[\"control\",true,3,null],$end"
		record PASS '' '-1 EBUSY' '-1 EBUSY'
		;;
	DEMO-OPEN-EITHER-1)
		log "$(error demo_open ENXIO),[\"returns\",-1,\"==\",-1],$end"
		record PASS '' '-1 ENXIO' '-1 EBUSY ENXIO' DEMO-OPEN-EITHER-1
		;;
	DEMO-OPEN-FAULT-1)
		log "[\"round\",1],$(error demo_open EBUSY),[\"round-end\",1,true,true,\"EBUSY\",\"finished\"],[\"round\",2],[\"call\",\"demo_open\",[],7,null],[\"result\",7,null,false],[\"round-end\",2,false,false,\"0\",\"finished\"],$end"
		record PASS '' '-1 EBUSY' '-1 EBUSY'
		;;
	DEMO-OPEN-SCENE-1 | DEMO-OPEN-LONG-1)
		log "[\"phase\",\"call\"],[\"call\",\"demo_open\",[],7,null],[\"assert\",true,\"it is open\"],$end"
		record PASS '' number number
		;;
	DEMO-SEND-EPIPE-1)
		given=EPIPE
		[ -z "$broken" ] || given=EIO
		log "$(error demo_send $given),[\"returns\",-1,\"==\",-1],$end"
		if [ -z "$broken" ]; then
			record PASS '' '-1 EPIPE' '-1 EPIPE'
		else
			record FAIL errno "-1 $given" '-1 EPIPE' '' "errno is $given"
		fi
		;;
	DEMO-SEND-CRASH-1)
		if [ -z "$broken" ]; then
			log "[\"phase\",\"call\"],[\"peer\",1,\"bind 5\",\"ok 5\"],$end"
			record PASS '' sent sent
		else
			log '["phase","call"],["call","demo_send",[1],null,null],["end","crash","signal 11"]'
			record FAIL crash '' sent '' 'signal 11'
		fi
		;;
	esac
}

cases=
while [ $# -gt 0 ]; do
	[ "$1" = --case ] && cases="$cases $2"
	shift
done
for case in $cases; do
	run_case "$case"
done
