# The Homebrew formula; `packaging/build.sh URL` replaces the values between @.
class Recoup < Formula
  desc "Reliable, fast fetching of named content over lossy and mobile NDN networks"
  homepage "@URL@"
  url "@URL@/@ARCHIVE@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    # The formula builds with Homebrew's toolchain, not with one of rustup.
    rm "rust-toolchain.toml"
    system "cargo", "install", "--profile", "dist", "--features", "gateway", *std_cargo_args(path: "crates/cli")
    system "cargo", "install", "--profile", "dist", "--features", "gateway", *std_cargo_args(path: "lab/cli")
    system bin/"recoup-lab", "generate", "man", "man"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"recoup-lab", "generate", "completions", base_name: "recoup")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/recoup --version")
    assert_match "recoup fetch", shell_output("#{bin}/recoup demo")
    assert_match "study", shell_output("#{bin}/recoup study list")
  end
end
