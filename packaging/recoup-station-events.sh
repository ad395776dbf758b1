#!/bin/sh
# Tells recoup forward of this access point which stations leave and come, as the kernel reports them (nl80211): for access
# points without hostapd_cli. It needs the program iw, and runs until it is stopped.
#
#   /usr/share/recoup/recoup-station-events.sh
#
# Lines of `iw event` are such as `wlan0: del station 02:00:00:00:00:07`. recoup-hostapd-action.sh beside this script acts.
iw event | while read -r interface line; do
    # Some versions name the device: `wlan0 (phy #0): del station`.
    line=${line#"(phy #"*"): "}
    case $line in
    "new station "*) event=AP-STA-CONNECTED ;;
    "del station "*) event=AP-STA-DISCONNECTED ;;
    *) continue ;;
    esac
    station=${line#??? station }
    "${0%/*}/recoup-hostapd-action.sh" "${interface%:}" "$event" "${station%% *}"
done
