#!/bin/sh
# Installs, runs and removes the packages of target/bundle/release in a clean Debian, and the static program in an empty root.
#
#   sudo -E env "PATH=$PATH" packaging/try.sh
set -eu
if [ $# -eq 0 ]; then
    cd "$(dirname "$0")/.."
    try=$PWD/target/bundle-try
    mkdir -p "$try"
    if [ ! -e "$try/clean.tar" ]; then
        mmdebstrap --variant=minbase --include=man-db,zsh,fish,systemd,dbus bookworm "$try/part.tar"
        mv "$try/part.tar" "$try/clean.tar"
    fi
    rm -rf "$try/root"
    mkdir "$try/root"
    tar --extract --directory "$try/root" --file "$try/clean.tar"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    exec unshare --mount --net --pid --ipc --fork --kill-child -- \
        packaging/try.sh "$try/root" "$PWD/target/bundle/release" "$version"
fi
# In namespaces of its own, without a network.
root=$1 files=$2 version=$3
jobs=""

# Prints and runs a command line in the clean system, as a user without rights.
user() {
    echo "+ $*"
    chroot --userspec=65534:65534 "$root" env HOME=/tmp/home PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh -c "$*"
}
# The same beside what follows; its process is the last of the jobs.
beside() {
    echo "+ $* &"
    chroot --userspec=65534:65534 "$root" env HOME=/tmp/home PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh -c "exec $*" &
    jobs="$jobs $!"
}
# Ends the jobs; each has to end well.
end() {
    for job in $jobs; do
        kill "$job"
        wait "$job" || [ $? -eq 143 ] || fail "a process ended with $?"
    done
    jobs=""
}
# Prints and runs a command line in the clean system as root.
admin() {
    echo "# $*"
    chroot "$root" env HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$*"
}
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
now() {
    date +%s%3N
}
# Waits up to five seconds until a command line succeeds.
await() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.5
    done
    cat "$root"/tmp/home/*.log >&2
    fail "$* did not succeed in 5 s"
}
# Files that a system has, without logs, caches and the lists of packages.
listing() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./run -o -path ./var/cache \
        -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/lib/rpm \) -prune -o -print | sort)
}

ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmp "$root/tmp" -o mode=1777
chroot "$root" install -d -o 65534 -g 65534 /tmp/home
cp "$files"/recoup_*.deb "$root/tmp/recoup.deb"
head -c 5000000 /dev/urandom >"$root/tmp/content"
listing >"$root/tmp/before"

echo "== Debian package"
start=$(now)
admin "dpkg --install /tmp/recoup.deb"
echo "installed in $(($(now) - start)) ms"
admin "dpkg --verify recoup"
user "recoup --version" | grep -F "recoup $version" || fail "the version is not $version"
user "man --pager=cat recoup-fetch | head -n 4"
user "apropos -s 1 recoup | wc -l"
user "bash -n /usr/share/bash-completion/completions/recoup"
user "zsh -n /usr/share/zsh/vendor-completions/_recoup"
user "fish -c 'complete -C \"recoup fet\"'" | grep fetch || fail "fish completes nothing"
admin "systemd-analyze verify recoup-forward.service"
admin "test ! -e /etc/systemd/system/multi-user.target.wants/recoup-forward.service"

echo "== serve and fetch, without a forwarder"
beside "recoup serve /tmp/content --name /try/direct >/tmp/home/serve.log 2>&1"
sleep 1
user "cd /tmp/home && recoup fetch /try/direct -o direct && cmp direct /tmp/content"
end

echo "== through the forwarder, as the unit runs it"
chroot "$root" install -d -o 65534 -g 65534 /run/nfd
beside "recoup forward >/tmp/home/forward.log 2>&1"
await test -S "$root/run/nfd/nfd.sock"
beside "recoup serve /tmp/content --name /try/routed >/tmp/home/serve.log 2>&1"
sleep 1
user "cd /tmp/home && recoup fetch /try/routed -o routed && cmp routed /tmp/content"
user "recoup ctl status report | head -n 5"
end
rm -rf "$root/run/nfd"

echo "== removed and purged"
admin "dpkg --remove recoup"
admin "dpkg --purge recoup"
listing >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" || fail "the package left something behind"
echo "nothing is left"

echo "== RPM package"
if command -v rpm >/dev/null; then
    rpm -qp --nosignature --info --list "$files"/recoup-*.rpm | grep -v /man1/
    # Folders that packages of Fedora have.
    mkdir -p "$root/usr/share/licenses" "$root/usr/share/zsh/site-functions"
    listing >"$root/tmp/before"
    installed() {
        rpm --root "$root" --define "_dbpath /var/lib/rpm" "$@"
    }
    start=$(now)
    # The system is Debian's: its packages are not in the list of rpm.
    installed --nosignature --nodeps --install "$files"/recoup-*.rpm
    echo "installed in $(($(now) - start)) ms"
    installed --nodeps --verify recoup
    user "recoup --version"
    installed --erase recoup
    listing >"$root/tmp/after"
    diff "$root/tmp/before" "$root/tmp/after" || fail "the package left something behind"
    echo "nothing is left"
else
    echo "skipped: there is no rpm"
fi

# A fetch between two processes of a root that has nothing but the program: ROOT PROGRAM USER.
alone() {
    install -d -o "$3" -g "$3" "$1/tmp" "$1/run/nfd"
    cp "$root/tmp/content" "$1/tmp/content"
    run="chroot --userspec=$3:$3 $1 $2"
    $run --version
    HOME=/tmp $run forward >"$root/tmp/alone.log" 2>&1 &
    jobs="$jobs $!"
    await test -S "$1/run/nfd/nfd.sock"
    HOME=/tmp $run serve /tmp/content --name /try/alone >"$root/tmp/alone-serve.log" 2>&1 &
    jobs="$jobs $!"
    sleep 1
    HOME=/tmp $run fetch /try/alone -o /tmp/copy
    cmp "$1/tmp/copy" "$1/tmp/content"
    end
    echo "files of the root: $(cd "$1" && find . -type f ! -path './tmp/*' | sort | tr '\n' ' ')"
}

echo "== static program in an empty root"
mkdir "$root/tmp/empty"
tar -xzf "$files"/recoup-*-musl.tar.gz -C "$root/tmp/empty" --strip-components=1 --wildcards '*/recoup'
ldd "$root/tmp/empty/recoup" 2>&1 || :
alone "$root/tmp/empty" /recoup 65534

echo "== container image"
if command -v buildah >/dev/null && ls "$files"/recoup-*-image.tar >/dev/null 2>&1; then
    b="buildah --storage-driver vfs --root $root/tmp/store --runroot $root/tmp/store-run"
    container=$($b from --quiet "oci-archive:$(ls "$files"/recoup-*-image.tar)")
    $b inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' "$($b images --quiet)"
    alone "$($b mount "$container")" /usr/bin/recoup 65532
else
    echo "skipped: there is no buildah"
fi
