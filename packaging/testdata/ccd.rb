class Ccd < Formula
  desc "Archive sessions of coding agents, restore what they forget"
  homepage "https://example.org"
  version "1.2.3"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://example.org/ccd/ccd_1.2.3_darwin_arm64.tar.gz"
      sha256 "6399fb33634d3c7090258603773f07997e0736dceae7096977e8365e93a7a350"
    end
    on_intel do
      url "https://example.org/ccd/ccd_1.2.3_darwin_amd64.tar.gz"
      sha256 "1cdcfaeee8fff2734b14929bc0d40699a3ca5a0d07a0d0a5cf7a8b4636f015b2"
    end
  end

  on_linux do
    on_arm do
      url "https://example.org/ccd/ccd_1.2.3_linux_arm64.tar.gz"
      sha256 "3e7bc88399e82c32121d04157cfc7a33801c09a60bd0f8c6478adb1829af3937"
    end
    on_intel do
      url "https://example.org/ccd/ccd_1.2.3_linux_amd64.tar.gz"
      sha256 "6e42b235a426c6ab149ad1b1f5ae3c0894409575c45d47698630034658cf0963"
    end
  end

  def install
    bin.install "ccd", "ccd-remote"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/ccd.bash" => "ccd"
    zsh_completion.install "completions/_ccd"
    fish_completion.install "completions/ccd.fish"
    doc.install Dir["docs/*.md"], "config.toml.example", "LICENSE.third-party"
  end

  def caveats
    <<~EOS
      Only one ccd can run per user. Start it with `brew services start ccd` or
      with `ccd service install`, not with both. Run `ccd service remove` before you remove the
      formula.
    EOS
  end

  service do
    run [opt_bin/"ccd", "run"]
    keep_alive crashed: true
    process_type :background
    environment_variables CCD_LOG_FILE: var/"log/ccd.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ccd version")
    (testpath/"session.json").write '[{"role": "user", "content": "one question"}]'
    assert_match "one question", shell_output("#{bin}/ccd compact --no-archive --stdout #{testpath}/session.json")
  end
end
