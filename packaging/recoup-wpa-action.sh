#!/bin/sh
# Tells recoup forward of this station when its access point is gone and when another one is there.
#
#   wpa_cli -B -a /usr/share/recoup/recoup-wpa-action.sh
#
# wpa_supplicant calls it with the interface and the event. Faces that lead to the gateway of the interface are held down
# while there is no access point. They keep their routes.
# RECOUP and RECOUP_FACE name the command and the forwarder, if they are not the usual ones.
interface=$1 event=$2

case $event in
DISCONNECTED) verb=down ;;
CONNECTED) verb=up ;;
*) exit 0 ;;
esac

for gateway in $(ip route show default dev "$interface" | awk '{ for (i = 1; i < NF; i++) if ($i == "via") print $(i + 1) }'); do
    # A gateway without a face is no fault: code 3.
    "${RECOUP:-recoup}" ctl ${RECOUP_FACE:+--face "$RECOUP_FACE"} face "$verb" "$gateway" 2>/dev/null || test $? -eq 3 || exit 1
done
