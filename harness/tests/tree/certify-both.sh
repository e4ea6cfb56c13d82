#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Certifies both reference libraries just built; fails where one of them is not certified.
set -u
here=$(dirname "$0")
sh "$here/certify-reference.sh" scif local
scif=$?
echo
sh "$here/certify-reference.sh" rsm local-rsm
rsm=$?
[ $scif -eq 0 ] && [ $rsm -eq 0 ]
