#!/usr/bin/env bash
# Builds the files of a release, in target/bundle/release: packages, archives, a container image, a bill of materials, digests.
#
#   packaging/build.sh [URL]   URL: the folder where the files will be, for the Homebrew formula
#
# The bytes depend on the commit and on the versions of the tools alone: times are that of the commit, and paths of the machine
# are replaced. SHA256SUMS of clones in two folders show it.
set -euo pipefail
cd "$(dirname "$0")/.."
url=${1:-} profile=${PROFILE:-dist} machine=$(uname -m) bundle=target/bundle release=target/bundle/release
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
beside="CHANGELOG.md LICENSE-APACHE LICENSE-MIT packaging/recoup-forward.service packaging/recoup-hostapd-action.sh packaging/recoup-station-events.sh packaging/recoup-wpa-action.sh"
rm -rf "$bundle"
mkdir -p $release $bundle/{empty,static,completions,share/man,archive}

# Installs a tool into target/tools: NAME VERSION ARGUMENT…
tool() {
    target/tools/bin/"$1" --version 2>/dev/null | grep -qF "$2" ||
        cargo install "$1" --quiet --locked --version "$2" --root target/tools "${@:3}"
}
tool cargo-deb 3.8.0 --no-default-features
tool cargo-generate-rpm 0.21.1
command -v musl-gcc >/dev/null || { echo "the static program needs musl-gcc: apt install musl-tools" >&2; exit 1; }
rustup target add "$machine-unknown-linux-musl"

# Of two prefixes that match, the compiler takes the later one.
prefixes="$HOME=/home ${CARGO_HOME:-$HOME/.cargo}=/cargo $PWD=/recoup"
export RUSTFLAGS="" CFLAGS=""
for prefix in $prefixes; do
    RUSTFLAGS+=" --remap-path-prefix=$prefix"
    CFLAGS+=" -ffile-prefix-map=$prefix"
done
# Builds both programs and copies them: LIBRARY FOLDER
programs() {
    target=$machine-unknown-linux-$1
    cargo build --locked --package recoup-cli --package recoup-lab-cli --features recoup-cli/gateway --profile "$profile" \
        --target "$target" --target-dir target/bundle-build --config "profile.$profile.strip=\"symbols\""
    for name in recoup recoup-lab; do
        cp "target/bundle-build/$target/$profile/$name" "$2"
        if grep -qaF -e "$HOME/" -e "$PWD/" "$2/$name"; then
            echo "$2/$name holds a path of this machine" >&2
            exit 1
        fi
    done
}
programs gnu $bundle
programs musl $bundle/static
if readelf --program-headers $bundle/static/recoup | grep -q INTERP; then
    echo "$bundle/static/recoup is not static" >&2
    exit 1
fi

$bundle/recoup-lab generate man $bundle/man
for pair in bash:recoup.bash zsh:_recoup fish:recoup.fish elvish:recoup.elv powershell:recoup.ps1; do
    $bundle/recoup-lab generate completions "${pair%:*}" >"$bundle/completions/${pair#*:}"
done
packaging/bill.py $bundle/third-party.txt "$release/recoup-$version.cdx.json"
cp CHANGELOG.md $bundle/share/changelog
printf 'recoup (%s-1) stable; urgency=medium\n\n  * Recoup %s: see changelog.gz.\n\n -- The Recoup developers <>  %s\n' \
    "$version" "$version" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >$bundle/share/changelog.Debian
cp $bundle/third-party.txt $bundle/share
cp $bundle/man/* $bundle/share/man
gzip -9n $bundle/share/man/* $bundle/share/changelog* $bundle/share/third-party.txt
cp $beside $bundle/share
find $bundle -type f -exec touch -d "@$SOURCE_DATE_EPOCH" {} +

# What is in the packages stands in crates/cli/Cargo.toml.
target/tools/bin/cargo-deb --package recoup-cli --no-build --no-strip --locked --quiet --output $release
target/tools/bin/cargo-generate-rpm --package crates/cli --auto-req builtin --output $release

# A tar whose bytes depend on names and contents alone: FOLDER FILE…
pack() {
    tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --mode=u=rwX,go=rX --directory "$@"
}
static=recoup-$version-$machine-linux-musl source=recoup-$version.tar.gz
mkdir "$bundle/archive/$static"
cp -r $bundle/static/recoup* $bundle/{third-party.txt,man,completions} README.md $beside "$bundle/archive/$static"
pack $bundle/archive "$static" | gzip -9n >"$release/$static.tar.gz"
git archive --format=tar.gz -9 --prefix="recoup-$version/" --output "$release/$source" HEAD
if [ -n "$url" ]; then
    sum=$(sha256sum <"$release/$source" | cut -d ' ' -f 1)
    sed -n "s|@URL@|${url%/}|; s|@ARCHIVE@|$source|; s|@SHA256@|$sum|; /^class/,\$p" packaging/recoup.rb >$release/recoup.rb
fi
if command -v buildah >/dev/null; then
    b="buildah --storage-driver vfs --root $PWD/$bundle/image/root --runroot $PWD/$bundle/image/run"
    $b build --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" --quiet --file packaging/Containerfile --tag recoup .
    $b push --quiet recoup "oci:$PWD/$bundle/image-layout:recoup:$version"
    rm -rf $bundle/image
    # An archive that buildah writes itself has the times of writing.
    pack $bundle/image-layout blobs index.json oci-layout >"$release/recoup-$version-image.tar"
else
    echo "no container image: it needs buildah"
fi
(cd $release && sha256sum -- * | tee SHA256SUMS)
