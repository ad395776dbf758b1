#!/bin/sh
# Tells recoup forward of this access point which stations leave and come.
#
#   hostapd_cli -B -a /usr/share/recoup/recoup-hostapd-action.sh
#
# hostapd calls it with the interface, the event and the station. Faces that lead to the station's Ethernet address, or
# to an IP address that the kernel knows for it, are held down until it returns. They keep their routes.
# RECOUP and RECOUP_FACE name the command and the forwarder, if they are not the usual ones.
interface=$1 event=$2 station=$3

case $event in
AP-STA-DISCONNECTED) verb=down ;;
AP-STA-CONNECTED) verb=up ;;
*) exit 0 ;;
esac

addresses=$(ip neigh show dev "$interface" | awk -v station="$station" '
    { for (i = 2; i < NF; i++) if ($i == "lladdr" && tolower($(i + 1)) == tolower(station)) print $1 }')
for address in "$station" $addresses; do
    # A station without a face is no fault: code 3.
    "${RECOUP:-recoup}" ctl ${RECOUP_FACE:+--face "$RECOUP_FACE"} face "$verb" "$address" 2>/dev/null || test $? -eq 3 || exit 1
done
