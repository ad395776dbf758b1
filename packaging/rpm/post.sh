# A new unit is as the system's presets have it, which leave it off where they do not name it.
if [ "$1" -eq 1 ] && [ -d /run/systemd/system ]; then
    systemctl --no-reload preset recoup-forward.service >/dev/null 2>&1 || :
fi
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload >/dev/null 2>&1 || :
fi
