if [ -d /run/systemd/system ]; then
    systemctl daemon-reload >/dev/null 2>&1 || :
    # A newer version is there: a forwarder that runs starts again with it.
    [ "$1" -eq 0 ] || systemctl try-restart recoup-forward.service >/dev/null 2>&1 || :
fi
# The package lists no folders of its own.
if [ "$1" -eq 0 ]; then
    rmdir /usr/share/doc/recoup /usr/share/licenses/recoup 2>/dev/null || :
fi
