#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scif-fabric and the environment variables, seen from outside: what the tool shows and changes,
# what programs on the fabric see of it, and what bad values lead to.
set -u
tool=$top_builddir/scif-fabric
member=$top_builddir/fabric-member
work=$(mktemp -d) || exit 99
SCIF_FABRIC=fabric-test-$$
SCIF_PROVIDER=embedded
export SCIF_FABRIC SCIF_PROVIDER
unset SCIF_NODE SCIF_HW_DEVICE
checks=0
failed=0

finish() {
	exec 3>&- 4>&-
	"$tool" reset >/dev/null 2>&1
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 99' INT TERM

check() { # WHAT EXPECTED OBSERVED
	checks=$((checks + 1))
	[ "$2" = "$3" ] && return
	failed=$((failed + 1))
	printf '%s\n  expected: %s\n  observed: %s\n' "$1" "$2" "$3"
}

# The status of a command that must explain itself in one line on stderr.
refused() { # STATUS COMMAND...
	wanted=$1
	shift
	"$@" >"$work/out" 2>"$work/err"
	check "$* ends with" "$wanted" $?
	check "$* explains itself in lines" 1 "$(wc -l <"$work/err" | tr -d ' ')"
}

# The same, and the line is this one.
says() { # LINE STATUS COMMAND...
	wanted_line="scif-fabric: $1"
	shift
	refused "$@"
	check "the last line" "$wanted_line" "$(cat "$work/err")"
}

# Starts a member whose input is held open by us and whose lines can be read one by one.
start() { # NODE ARGUMENTS...
	node=$1
	shift
	rm -f "$work/in" "$work/lines"
	mkfifo "$work/in" "$work/lines"
	SCIF_NODE=$node "$member" "$@" <"$work/in" >"$work/lines" &
	started=$!
	exec 3>"$work/in" 4<"$work/lines"
}

line() {
	read -r next <&4 || next=end
	echo "$next"
}

stop() {
	exec 3>&- 4>&-
	wait "$started"
}

# The tool as a user that root is not.
as_another() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$work/tool" "$@"
}

# A controller that is no longer needed ends by itself, a moment after its last reply.
controller_gone() {
	tries=0
	while [ $tries -lt 200 ]; do
		"$tool" --json | grep -q '"controller": null' && echo gone && return
		tries=$((tries + 1))
	done
	echo there
}

for bad in '' -1 +1 257 01 ' 1' 1x 0x1 99999999999; do
	check "SCIF_NODE='$bad'" "open ENXIO" "$(SCIF_NODE=$bad "$member" open)"
done
for good in 0 1 256; do
	check "SCIF_NODE='$good'" open "$(SCIF_NODE=$good "$member" open)"
done
long=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234
for bad in '' a/b 'a b' a.b "${long}5"; do
	check "SCIF_FABRIC='$bad'" "open ENXIO" "$(SCIF_FABRIC=$bad "$member" open)"
	refused 2 env "SCIF_FABRIC=$bad" "$tool" list
done
check "SCIF_FABRIC='$long'" open "$(SCIF_FABRIC=$long "$member" open)"
for bad in '' hardware Embedded hw: hw:KNC; do
	check "SCIF_PROVIDER='$bad'" "open ENXIO" "$(SCIF_PROVIDER=$bad "$member" open)"
done
for absent in hw hw:knc hw:mpss4; do
	check "SCIF_PROVIDER='$absent'" "open ENXIO" \
		"$(SCIF_PROVIDER=$absent SCIF_HW_DEVICE=$work/none "$member" open)"
	says "SCIF_PROVIDER is \"$absent\", but there is no $work/none" \
		2 env SCIF_PROVIDER=$absent SCIF_HW_DEVICE="$work/none" "$tool" list
done
says 'SCIF_PROVIDER is "hw": fabrics belong to the embedded provider' \
	2 env SCIF_PROVIDER=hw SCIF_HW_DEVICE=/dev/null "$tool" list
check "SCIF_PROVIDER='embedded'" open "$(SCIF_PROVIDER=embedded "$member" open)"

check "nodes by default" "self 0: 0 1" "$("$member" nodes)"
check "the own node is always there" "self 5: 0 1 5" "$(SCIF_NODE=5 "$member" nodes)"

says 'SCIF_NODE is "257": a number from 0 to 256 is needed' 2 env SCIF_NODE=257 "$tool" list
says 'SCIF_FABRIC is "a/b": 1 to 64 letters, digits, _ and - are needed' \
	2 env SCIF_FABRIC=a/b "$tool" node up 1
says 'SCIF_PROVIDER is "hardware": embedded, hw, hw:knc or hw:mpss4 is needed' \
	2 env SCIF_PROVIDER=hardware "$tool" reset
says 'SCIF_NODE is "1?2": a number from 0 to 256 is needed' 2 env "SCIF_NODE=1
2" "$tool"
says '"a/b" is no fabric: 1 to 64 letters, digits, _ and -' 2 env SCIF_FABRIC=x "$tool" -f a/b
env SCIF_FABRIC=a/b "$tool" -f "$SCIF_FABRIC" list >"$work/out" 2>&1
check "-f stands instead of a bad SCIF_FABRIC" 0 $?
env SCIF_NODE=x "$tool" --help >"$work/out" 2>&1
check "help whatever the environment" 0 $?

says '"frobnicate" is no command: the choice is list, node, ports or reset' 2 "$tool" frobnicate 1
says '"all" is one argument too many for "list"' 2 "$tool" list all
says '"x" is one argument too many for "node down N"' 2 "$tool" node down 1 x
says '"3" is one argument too many for "ports LOW-HIGH"' 2 "$tool" ports 2000-2001 3 4
says '"now" is one argument too many for "reset"' 2 "$tool" reset now
says '"node" lacks an argument: use "node add|down|sleep|up|remove N"' 2 "$tool" node
says '"node down" lacks an argument: use "node down N"' 2 "$tool" node down
says '"ports" lacks an argument: use "ports LOW-HIGH"' 2 "$tool" ports
says 'node lift: the choice is add, down, sleep, up or remove, then N' 2 "$tool" node lift
for bad in frobnicate 'list all' node 'node down' 'node down x' 'node down 257' 'node lift 1' \
	'ports 1-2' 'ports 3000-2000' 'ports 2000' 'ports 2000-70000'; do
	refused 2 "$tool" $bad
done
refused 1 "$tool" node down 9
refused 1 "$tool" node add 1
refused 1 "$tool" node remove 1
refused 1 "$tool" node remove 9

"$tool" ports 2000-2001 >"$work/out"
check "ports LOW-HIGH" 0 $?
start 0 bind 3
check "first port of the range" "port 2000" "$(line)"
check "second port of the range" "port 2001" "$(line)"
check "the range is used up" "bind ENOSPC" "$(line)"
stop
"$tool" ports default >"$work/out"
check "no controller after ports default" gone "$(controller_gone)"

check "the version" 0 "$("$tool" --version >"$work/out"; echo $?)"
check "an option that is none" 2 "$("$tool" --nope >"$work/out" 2>&1; echo $?)"
check "a disk that is full" 1 "$("$tool" --json list 2>&1 >/dev/full | grep -c 'could not be written')"
"$tool" --json ports 2000-2001 >"$work/out"
check "ports as JSON" 1 "$(grep -c '"high": 2001' "$work/out")"
"$tool" --json node add 9 >"$work/out"
check "node add as JSON" 1 "$(grep -c '"node": 9' "$work/out")"
"$tool" list >"$work/out"
check "the table has the controller" 1 "$(grep -c ', controller [0-9]*$' "$work/out")"
"$tool" --json reset >"$work/out"
check "reset as JSON" 1 "$(grep -c '"default": true' "$work/out")"
check "no controller after a reset as JSON" gone "$(controller_gone)"

start 1 pair
port=$(line)
port=${port#pair }
"$tool" list >"$work/out"
check "the table has the process" 1 "$(grep -c '([0-9]* processes\|[0-9]*(fabric-member)' "$work/out")"
check "the table has the listener" 1 "$(grep -cE "^[0-9]+ +5[0-9]{3} +listening +1:$port +- " "$work/out")"
check "the table has both ends" 2 "$(grep -cE '^[0-9]+ +5[0-9]{3} +connected +1:[0-9]+ +1:[0-9]+ ' "$work/out")"
"$tool" --json >"$work/list"
check "the document has the peers" 2 "$(grep -c '"peer": {' "$work/list")"
stop

start 1 bind 1
port=$(line)
"$tool" --json >"$work/list"
check "the list has the process" 1 "$(grep -c '"command": "fabric-member"' "$work/list")"
check "the list has the endpoint" 1 "$(grep -c '"state": "listening"' "$work/list")"
number=${port#port }
check "the list has the port" 1 "$(grep -c "\"port\": $number\$\|\"port\": $number," "$work/list")"
check "the document says what it is" 1 "$(grep -c '"format": "scif-fabric/1"' "$work/list")"
check "node down" "node 1 is down, 1 process ended" "$("$tool" node down 1)"
stop
check "a process of a lost node is killed" 137 $?
check "nodes while one is down" "self 0: 0" "$("$member" nodes)"
check "open on a lost node" "open ENXIO" "$(SCIF_NODE=1 "$member" open)"
refused 1 "$tool" node sleep 1
check "node up" "node 1 is up" "$("$tool" node up 1)"
check "no controller once all is up" gone "$(controller_gone)"
check "nodes when all is up" "self 0: 0 1" "$("$member" nodes)"

start 0 watch-fork
check "the child has started" "child 0" "$(line)"
"$tool" node down 1 >"$work/out"
"$tool" node up 1 >"$work/out"
"$tool" node sleep 1 >"$work/out"
"$tool" node add 256 >"$work/out"
"$tool" node down 256 >"$work/out"
"$tool" node remove 256 >"$work/out"
"$tool" node add 7 >"$work/out"
"$tool" reset >"$work/out"
for event in 'removed 1' 'added 1' 'added 256' 'removed 256' 'added 7' 'removed 7'; do
	check "event" "$event" "$(line)"
done
stop
check "no controller after reset" gone "$(controller_gone)"

start 0 watch-closed
check "watching" "watching 0" "$(line)"
"$tool" node down 1 >"$work/out"
check "an event though the library's descriptors are closed" 'removed 1' "$(line)"
"$tool" node up 1 >"$work/out"
check "another one" 'added 1' "$(line)"
stop

start 0 watch-forking
check "watching" "watching 0" "$(line)"
"$tool" node down 1 >"$work/out"
check "an event whose handler forks" 'removed 1' "$(line)"
check "the same for the handler after it" 'removed 1' "$(line)"
"$tool" node up 1 >"$work/out"
check "the next event" 'added 1' "$(line)"
check "the same for the handler after it" 'added 1' "$(line)"
exec 3>&-
check "the child of the handler" 'child ended 0' "$(line)"
stop

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	"$tool" node sleep 1 >"$work/out"
	# From a copy: the build folder may be closed to others.
	chmod 755 "$work"
	cp "$tool" "$work/tool"
	refused 1 as_another node up 1
	check "what root set is heeded by others" "self 0: 0 1" "$("$member" nodes)"
	"$tool" node up 1 >"$work/out"
	check "no controller before another user's attempt" gone "$(controller_gone)"

	start 1 bind 1
	port=$(line)
	as_another list >"$work/out"
	check "names of processes of others" 1 "$(grep -c '^2 more socket names belong to processes of other users' "$work/out")"
	for verb in down remove; do
		says 'a process on node 1 is not ours to end; nothing was changed' \
			1 as_another node $verb 1
	done
	check "nothing was changed" 1 "$("$tool" --json | grep -c '"controller": null')"
	check "the process is still there" "node 1 is down, 1 process ended" "$("$tool" node down 1)"
	stop
	"$tool" node add 5 >"$work/out"
	"$tool" node up 1 >"$work/out"
	start 5 bind 1
	port=$(line)
	says 'a process on node 5 is not ours to end; nothing was changed' \
		1 as_another reset
	"$tool" reset >"$work/out"
	stop
	check "reset ends the processes of added nodes" 137 $?

	as_another ports 2000-2001 >"$work/out"
	check "a controller of another user is shown" 1 \
		"$("$tool" list | grep -c ', controller [0-9]* of another user, not heeded by yours')"
	check "what it says is not" "self 0: 0 1" "$("$member" nodes)"
	as_another reset >"$work/out"
else
	echo "not tried: the controller of another user (needs root and setpriv)"
fi

echo "$checks checks, $failed failed"
[ "$failed" -eq 0 ]
