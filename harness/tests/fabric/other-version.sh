#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A version adapter for the reference library: PROGRAM is scif-fabric built for another protocol version. It
# leaves a controller behind while a node is not in its default state; who meets that one is told the version.
case $2 in
on) exec "$1" node sleep 1 ;;
off) exec "$1" node up 1 ;;
*)
	echo "usage: other-version.sh PROGRAM on|off" >&2
	exit 2
	;;
esac
