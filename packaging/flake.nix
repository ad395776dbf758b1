# nix run 'git+file:.?dir=packaging' -- --version
{
  description = "Reliable, fast fetching of named content over lossy and mobile NDN networks";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { nixpkgs, ... }:
    let
      manifest = builtins.fromTOML (builtins.readFile ../Cargo.toml);
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forAll = nixpkgs.lib.genAttrs systems;
      package = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "recoup";
        inherit (manifest.workspace.package) version;
        src = ../.;
        cargoLock.lockFile = ../Cargo.lock;
        cargoBuildFlags = [ "--package" "recoup-cli" "--package" "recoup-lab-cli" ];
        buildFeatures = [ "gateway" ];
        buildType = "dist";
        # `cargo xtask test` needs networks and namespaces, which a build here has not.
        doCheck = false;
        nativeBuildInputs = [ pkgs.installShellFiles ];
        postInstall = ''
          $out/bin/recoup-lab generate man man
          installManPage man/*.1
          for shell in bash zsh fish; do
            $out/bin/recoup-lab generate completions $shell > recoup.$shell
            installShellCompletion --cmd recoup --$shell recoup.$shell
          done
        '' + pkgs.lib.optionalString pkgs.stdenv.hostPlatform.isLinux ''
          install -D -m 644 packaging/recoup-forward.service -t $out/lib/systemd/system
          substituteInPlace $out/lib/systemd/system/recoup-forward.service --replace-fail /usr/bin/recoup $out/bin/recoup
        '';
        meta = {
          description = manifest.workspace.package.description;
          license = with pkgs.lib.licenses; [ mit asl20 ];
          mainProgram = "recoup";
        };
      };
    in {
      packages = forAll (system: { default = package nixpkgs.legacyPackages.${system}; });
    };
}
