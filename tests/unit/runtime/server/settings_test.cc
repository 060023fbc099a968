#include "runtime/server/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "runtime/server/settings_table.h"

namespace wf::server {
namespace {

Loaded Load(std::vector<const char*> arguments, std::vector<const char*> environment = {}, const char* config = nullptr) {
  environment.push_back(nullptr);
  const std::string_view text = config == nullptr ? "" : config;
  return LoadSettings({.arguments = arguments, .environment = environment.data(), .config_text = config == nullptr ? nullptr : &text});
}

std::string LineOf(const Settings& settings, const std::string& key) {
  const std::string text = "\n" + ConfigText(settings);
  const size_t at = text.find("\n" + key + ": ");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(Settings, DefaultsAreValid) {
  const Loaded loaded = Load({});
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  EXPECT_EQ(loaded.wish, Wish::kServe);
  EXPECT_EQ(loaded.settings.http_port, 8080);
  EXPECT_EQ(loaded.settings.admin_host, "127.0.0.1");
  EXPECT_EQ(loaded.settings.drain_seconds.ns, 30'000'000'000);
  EXPECT_EQ(loaded.settings.body_bytes.value, 64 << 20);
  EXPECT_FALSE(loaded.settings.access_log);
}

TEST(Settings, ASecretIsNotShown) {
  const Loaded loaded = Load({}, {"WF_AUTH_KEYS=0123456789abcdef"});
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  EXPECT_EQ(loaded.settings.auth_keys.text, "0123456789abcdef");
  EXPECT_EQ(LineOf(loaded.settings, "  # keys"), "  # keys: \"\"  # WF_AUTH_KEYS, not shown");
  EXPECT_EQ(ConfigText(loaded.settings).find("0123456789abcdef"), std::string::npos);
  const Loaded broken = Load({}, {"WF_AUTH_KEYS=\xff-0123456789abcdef"});
  ASSERT_EQ(broken.errors.size(), 1U);
  EXPECT_EQ(broken.errors[0].find("0123456789abcdef"), std::string::npos);
}

// As when what the variable was made of is not there.
TEST(Settings, KeysThatAreSetAndEmptyAreAMistake) {
  const std::string why = ": is set and empty, and without keys everybody would be let in; leave it out where that is meant";
  const char* const file = "auth: {keys_file: keys}\n";
  for (const std::string& name : std::initializer_list<std::string>{"WF_AUTH_KEYS", "WF_AUTH_KEYS_FILE"}) {
    for (const char* config : {static_cast<const char*>(nullptr), file}) {
      const Loaded loaded = Load({}, {(name + "=").c_str()}, config);
      ASSERT_EQ(loaded.errors.size(), 1U);
      EXPECT_EQ(loaded.errors[0], name + why);
      EXPECT_EQ(loaded.exit_status(), 1);
    }
  }
  const Loaded flag = Load({"--auth-keys-file="});
  ASSERT_EQ(flag.errors.size(), 1U);
  EXPECT_EQ(flag.errors[0], "--auth-keys-file" + why);
  EXPECT_EQ(flag.exit_status(), 2);
}

TEST(Settings, AFlagWinsOverTheEnvironmentThatOverTheFile) {
  const char* const file = "http_port: 1\nadmin_port: 1\nio_threads: 1\n";
  const Loaded loaded = Load({"--http-port", "3"}, {"WF_HTTP_PORT=2", "WF_ADMIN_PORT=2", "HOME=/root"}, file);
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(loaded.settings.http_port, 3);
  EXPECT_EQ(loaded.settings.admin_port, 2);
  EXPECT_EQ(loaded.settings.io_threads, 1);
  EXPECT_EQ(LineOf(loaded.settings, "http_port"), "http_port: 3  # --http-port");
  EXPECT_EQ(LineOf(loaded.settings, "admin_port"), "admin_port: 2  # WF_ADMIN_PORT");
  EXPECT_EQ(LineOf(loaded.settings, "io_threads"), "io_threads: 1  # config:3");
  EXPECT_EQ(LineOf(loaded.settings, "host"), "host: 0.0.0.0  # default");
}

TEST(Settings, EveryRowCanBeSetInEveryWayAndHasNamesOfItsOwn) {
  std::set<std::string> flags, variables;
  for (const SettingRow& row : SettingRows()) {
    EXPECT_TRUE(flags.insert(row.flag()).second) << row.key;
    EXPECT_TRUE(variables.insert(row.environment_name()).second) << row.key;
    EXPECT_FALSE(row.doc.empty()) << row.key;
    const std::string value(row.lets_in ? "keys" : row.default_text), flag = row.flag() + "=" + value,
                                                                      variable = row.environment_name() + "=" + value;
    const size_t dot = row.key.find('.');
    const std::string quoted = "\"" + value + "\"";
    const std::string file = dot == std::string_view::npos
                                 ? std::string(row.key) + ": " + quoted
                                 : std::string(row.key.substr(0, dot)) + ": {" + std::string(row.key.substr(dot + 1)) + ": " + quoted + "}";
    const auto source_by = [&row](const Loaded& loaded) {
      EXPECT_TRUE(loaded.errors.empty()) << row.key << ": " << loaded.errors[0];
      return loaded.settings.sources[static_cast<size_t>(&row - SettingRows().data())];
    };
    EXPECT_NE(HelpText("server").find("  " + row.flag() + "  (" + row.environment_name()), std::string::npos);
    EXPECT_EQ(source_by(Load({}, {variable.c_str()})), row.environment_name() + (row.is_secret ? ", not shown" : ""));
    if (row.is_secret) continue;  // where others could read it
    EXPECT_EQ(source_by(Load({flag.c_str()})), row.flag());
    EXPECT_EQ(source_by(Load({}, {}, file.c_str())), "config:1");
  }
}

TEST(Settings, TheFlagsOfTheDocumentedServerLineExist) {
  std::set<std::string> flags;
  for (const SettingRow& row : SettingRows()) flags.insert(row.flag());
  for (const char* flag : {"--http-port", "--grpc-port", "--admin-port", "--admin-host", "--host", "--listen", "--kernel-cache",
                           "--model-root", "--io-threads", "--compute-threads", "--schedule", "--drain-seconds"})
    EXPECT_TRUE(flags.contains(flag)) << flag;
}

TEST(Settings, MistakesOnTheCommandLineAreUsageErrors) {
  const struct {
    std::vector<const char*> arguments;
    std::string message;
  } cases[] = {
      {{"--htp-port", "1"}, "unknown flag `--htp-port`; did you mean `--http-port`"},
      {{"--check-confg"}, "unknown flag `--check-confg`; did you mean `--check-config`"},
      {{"--print-config=1"}, "--print-config: takes no value"},
      {{"--check-config="}, "--check-config: takes no value"},
      {{"--help=true"}, "--help: takes no value"},
      {{"serve"}, "unexpected argument `serve`"},
      {{"--http-port"}, "--http-port: needs a value"},
      {{"--http-port", "1", "--http-port=1"}, "--http-port: is given twice"},
      {{"--log-access", "--log-access", "--io-threads=1"}, "--log-access: is given twice"},
      {{"--http-port", "70000"}, "--http-port: expected a port, 0 to 65535, found `70000`"},
      {{"--http-port=x"}, "--http-port: expected a port, 0 to 65535, found `x`"},
      {{"--schedule=always"}, "--schedule: expected auto, inline or pool, found `always`"},
      {{"--drain-seconds=-1"}, "--drain-seconds: expected a duration from 0s to 24h, as `30` (seconds) or `2m`, found `-1`"},
      {{"--limits-body-bytes=0"}, "--limits-body-bytes: expected a size from 1B to 1024GiB, found `0`"},
      {{"--default-timeout", "5000h"}, "--default-timeout: expected a duration from 1ms to 24h, found `5000h`"},
      {{"--limits-request-line-bytes", "100GiB"}, "--limits-request-line-bytes: expected a size from 256B to 16MiB, found `100GiB`"},
      {{"--limits-memory-bytes=1"}, "--limits-memory-bytes: expected 0 or a size from 1MiB to 65536GiB, as `64MiB`, found `1`"},
      {{"--listen", "/tmp/x"}, "--listen: expected `unix:` and the name of a file, of 107 bytes at most, found `/tmp/x`"},
      {{"--auth-keys", "0123456789abcdef"}, "--auth-keys: others may read it there; set `WF_AUTH_KEYS`, or `auth.keys_file`"},
      {{"--log-access=1"}, "--log-access: expected true or false, found `1`"},
      {{"--x\xff\n"}, "unknown flag `--x??`"},
      {{"--model-root", "a\xff\nb"}, "--model-root: the value `a??b` is not UTF-8"},
  };
  for (const auto& at : cases) {
    const Loaded loaded = Load(at.arguments);
    ASSERT_EQ(loaded.errors.size(), 1u) << at.message;
    EXPECT_EQ(loaded.errors[0], at.message);
    EXPECT_EQ(loaded.exit_status(), 2);
  }
}

TEST(Settings, TwoFilesAreNotReadForOne) {
  const Loaded loaded = Load({"--config", "a.yml", "--config=b.yml"}, {}, "http_port: 1\n");
  ASSERT_EQ(loaded.errors.size(), 1U);
  EXPECT_EQ(loaded.errors[0], "--config: is given twice");
  EXPECT_EQ(loaded.exit_status(), 2);
}

TEST(Settings, MistakesInTheFileNameItsLineAndTheKeyMeant) {
  const struct {
    const char* text;
    std::string message;
  } cases[] = {
      {"# a comment\nhtp_port: 0\n", "config:2: unknown key `htp_port`; did you mean `http_port`"},
      {"limits:\n  conections: 1\n", "config:2: unknown key `limits.conections`; did you mean `limits.connections`"},
      {"htp_port: [1]\n", "config:1: unknown key `htp_port`; did you mean `http_port`"},
      {"\nhtp_port:\n  - 1\n", "config:2: unknown key `htp_port`; did you mean `http_port`"},
      {"htp_port: !!int 1\n", "config:1: unknown key `htp_port`; did you mean `http_port`"},
      {"limitz: {connections: [1]}\n", "config:1: unknown section `limitz`; did you mean `limits`"},
      {"http_port: [1]\n", "config:1: expected a value for `http_port`, found a list; several are one text, as \"a, b\""},
      {"http_port: !!int 1\n", "config:1: expected a value without a tag"},
      {"limits: [1]\n", "config:1: `limits` is a section: it takes keys below it, not a value"},
      {"limits: !!map {connections: 1}\n", "config:1: expected a value without a tag"},
      {"limits: 3\n", "config:1: `limits` is a section: it takes keys below it, not a value"},
      {"limits.connections: 3\n", "config:1: write `limits.connections` as a key inside the section before its dot"},
      {"host:\n", "config:1: `host` has no value; leave the line out for the default"},
      {"limits: {}\nhost: {}\n", "config:2: expected a value for `host`, found a mapping"},
      {"limitz: {}\n", "config:1: unknown section `limitz`; did you mean `limits`"},
      {"foo: {http_port: 0}\n", "config:1: unknown section `foo`; `http_port` stands outside of all sections"},
      {"limits: {foo: {}}\n", "config:1: unknown section `limits.foo`"},
      {"# a comment\nlimitz:\n\n  connections: 1\n  body_bytes: 1MiB\n", "config:2: unknown section `limitz`; did you mean `limits`"},
      {"loging: {level: debug, x: {y: {}}}\n", "config:1: unknown section `loging`; did you mean `log.level`"},
      {"node:\n  a: {batch: 1}\n  b: {batch: 1}\n", "config:1: unknown section `node`; did you mean `nodes`"},
      {"tls:\n  certt: a\n", "config:2: unknown key `tls.certt`; did you mean `tls.cert`"},
      {"tls:\n  cert:\n    file: a\n    more: b\n", "config:2: expected a value for `tls.cert`, found a mapping"},
      {"http_port: {a: 1}\n", "config:1: expected a value for `http_port`, found a mapping"},
      {"\nhttp_port: eighty\n", "config:2: `http_port`: expected a port, 0 to 65535, found `eighty`"},
      {"limits: {header_timeout: 10}\n", "config:1: `limits.header_timeout`: expected a duration from 1s to 1h, as `10s`, found `10`"},
      {"limits: {body_bytes: 1MB}\n", "config:1: `limits.body_bytes`: expected a size from 1B to 1024GiB, as `1MiB`, found `1MB`"},
      {"http_port: 1\nhttp_port: 2\n", "config:2: `http_port` is already set on line 1"},
      {"auth: {keys: 0123456789abcdef}\n", "config:1: `auth.keys`: others may read it there; set `WF_AUTH_KEYS`, or `auth.keys_file`"},
      {"auth: {keys_file: ''}\n",
       "config:1: `auth.keys_file`: is set and empty, and without keys everybody would be let in; leave it out where that is meant"},
      {"tls: {cert: a.pem}\n", "config:1: `tls.cert` is `a.pem` and `tls.key` is not set: TLS takes both"},
      {"tls: {key: a.pem}\n", "config:1: `tls.cert` is not set and `tls.key` is `a.pem`: TLS takes both"},
      {"tls: {client_ca: a.pem}\n",
       "config:1: `tls.client_ca` is `a.pem` and `tls.cert` is not set: without TLS nobody shows a certificate"},
      {"tls: {cert: a.pem, key: a.key, min_version: 1.1}\n", "config:1: `tls.min_version`: expected 1.2 or 1.3, found `1.1`"},
      {"nodes: {A/b: {batch: 2}}\n", "config:1: there is no program whose nodes these could be"},
      {"grpc_port: 8081\n", "config:1: `admin_port` is `8081` (default) and `grpc_port` is `8081`: give each its own"},
      {"default_timeout: 400s\n",
       "config:1: `default_timeout` is `400s` and `limits.timeout` is `300s` (default): a default is at most what may be asked for"},
      {"host: 0.0.0.0\nlimits:\n  timeout: 1s\n",
       "config:3: `default_timeout` is `30s` (default) and `limits.timeout` is `1s`: a default is at most what may be asked for"},
      {"http_port: 90\n\nadmin_port: 90\n", "config:3: `admin_port` is `90` and `http_port` is `90` (config:1): give each its own"},
      {"limits: {header_bytes: 4KiB}\n",
       "config:1: `limits.request_line_bytes` is `8KiB` (default) and `limits.header_bytes` is `4KiB`: the line is a part of the headers"},
  };
  for (const auto& at : cases) {
    const Loaded loaded = Load({}, {}, at.text);
    ASSERT_EQ(loaded.errors.size(), 1u) << at.message;
    EXPECT_EQ(loaded.errors[0], at.message);
    EXPECT_EQ(loaded.exit_status(), 1);
  }
}

TEST(Settings, AMistakeOfTwoTogetherNamesBothValuesAndPlaces) {
  const char* const file = "limits: {timeout: 10m}\n";
  const Loaded variable = Load({}, {"WF_DEFAULT_TIMEOUT=1h"}, file), flag = Load({"--default-timeout=1h"}, {}, file);
  const std::string message =
      ": `default_timeout` is `1h` and `limits.timeout` is `10m` (config:1): a default is at most what may be asked for";
  EXPECT_EQ(variable.errors, std::vector<std::string>{"WF_DEFAULT_TIMEOUT" + message});
  EXPECT_EQ(variable.exit_status(), 1);
  EXPECT_EQ(flag.errors, std::vector<std::string>{"--default-timeout" + message});
  EXPECT_EQ(flag.exit_status(), 2);
}

TEST(Settings, NothingFollowsFromTheDefaultOfASettingThatIsRefused) {
  const Loaded line = Load({"--limits-request-line-bytes=1B", "--limits-header-bytes=4KiB"});
  ASSERT_EQ(line.errors.size(), 1u) << line.errors[1];
  EXPECT_TRUE(line.errors[0].starts_with("--limits-request-line-bytes: expected a size from ")) << line.errors[0];
  const char* const texts[] = {
      "limits: {request_line_bytes: x, header_bytes: 4KiB}\n",
      "limits: {request_line_bytes: , header_bytes: 4KiB}\n",
      "limits: {timeout: 0s}\ndefault_timeout: 400s\n",
      "admin_port: x\nhttp_port: 8081\n",
      "host: x\nhttp_port: 8081\n",
      "admin_host: [127.0.0.1]\ngrpc_port: 8081\n",
      "listen: x\nhttp_port: 8081\n",
  };
  for (const char* const text : texts) EXPECT_EQ(Load({}, {}, text).errors.size(), 1u) << text;
  const Loaded memory = Load({"--limits-memory-bytes=32MiB", "--limits-body-bytes=1"});
  EXPECT_EQ(memory.errors.size(), 1u);
  EXPECT_TRUE(memory.warnings.empty()) << memory.warnings[0];
  const Loaded mended = Load({"--limits-timeout=1s"}, {}, "limits: {timeout: 0s}\n");  // what is given last counts
  ASSERT_EQ(mended.errors.size(), 2u);
  EXPECT_EQ(mended.errors[1],
            "--limits-timeout: `default_timeout` is `30s` (default) and `limits.timeout` is `1s`: a default is at most what "
            "may be asked for");
}

TEST(Settings, ABodyThatAllTheMemoryCannotHoldIsWarnedOf) {
  EXPECT_TRUE(Load({"--limits-memory-bytes=0"}).warnings.empty());
  EXPECT_TRUE(Load({"--limits-memory-bytes=64MiB"}).warnings.empty());
  const Loaded loaded = Load({"--limits-memory-bytes=32MiB"});
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(loaded.warnings[0],
            "--limits-memory-bytes: `limits.body_bytes` is `64MiB` (default) and `limits.memory_bytes` is `32MiB`: all requests share the "
            "memory, so a body that long is refused");
}

TEST(Settings, APortBesideAFileThatIsServedOnIsWarnedOf) {
  EXPECT_TRUE(Load({"--listen=unix:/run/a.sock"}).warnings.empty());
  EXPECT_TRUE(Load({"--listen=unix:/run/a.sock", "--http-port=0"}).warnings.empty());
  EXPECT_TRUE(Load({"--http-port=9123"}).warnings.empty());
  const Loaded loaded = Load({"--listen=unix:/run/a.sock", "--http-port=9123"});
  EXPECT_EQ(loaded.warnings,
            std::vector<std::string>{"--http-port: `http_port` is `9123` and `listen` is `unix:/run/a.sock` (--listen): the "
                                     "file is served on, and no port of HTTP"});
}

TEST(Settings, EveryMistakeIsTold) {
  const Loaded loaded = Load({"--http-port=x"}, {"WF_ADMIN_PORT=y"}, "hots: a\nio_threads: z\n");
  EXPECT_EQ(loaded.errors.size(), 4u);
}

TEST(Settings, ManyMistakesAreCounted) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "key_" + std::to_string(i) + ": 1\n";
  const Loaded loaded = Load({"--http-port=x"}, {}, text.c_str());
  ASSERT_EQ(loaded.errors.size(), 21u);
  EXPECT_EQ(loaded.errors[19], "config:20: unknown key `key_19`");
  EXPECT_EQ(loaded.errors[20], "and 981 more mistakes");
  EXPECT_EQ(loaded.exit_status(), 2);
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("WF_NONE_" + std::to_string(i) + "=1");
  std::vector<const char*> environment;
  for (const std::string& name : names) environment.push_back(name.c_str());
  const Loaded warned = Load({}, environment);
  ASSERT_EQ(warned.warnings.size(), 21u);
  EXPECT_EQ(warned.warnings[20], "and 10 more");
}

TEST(Settings, TwoListenersNeedTwoPorts) {
  const auto fails = [](const char* host, const char* admin) {
    return !Load({"--http-port=90", "--admin-port=90", "--host", host, "--admin-host", admin}).errors.empty();
  };
  EXPECT_EQ(Load({"--http-port", "8081"}).errors,
            std::vector<std::string>{"--http-port: `admin_port` is `8081` (default) and `http_port` is `8081`: give each its own"});
  EXPECT_TRUE(fails("0.0.0.0", "10.0.0.1"));
  EXPECT_TRUE(fails("::1", "::"));
  EXPECT_TRUE(fails("0:0::0", "10.0.0.1"));
  EXPECT_TRUE(fails("127.0.0.1", "127.0.0.1"));
  EXPECT_FALSE(fails("127.0.0.1", "127.0.0.2"));
  EXPECT_FALSE(fails("0.0.0.0", "::1"));
  EXPECT_TRUE(Load({"--http-port=0", "--admin-port=0"}).errors.empty());
}

TEST(Settings, AValueIsUtf8) {
  EXPECT_EQ(Load({}, {"WF_HOST=\xe9"}).errors, std::vector<std::string>{"WF_HOST: the value `?` is not UTF-8"});
  const Loaded file = Load({}, {}, "\nhost: \xe9\n");
  ASSERT_EQ(file.errors.size(), 1u);
  EXPECT_TRUE(file.errors[0].starts_with("config:2: not UTF-8")) << file.errors[0];
  EXPECT_EQ(Load({"--config=a\xff"}).errors, std::vector<std::string>{"the name of the configuration file, `a?`, is not UTF-8"});
}

TEST(Settings, AnUnknownVariableIsAWarning) {
  const Loaded loaded = Load({}, {"WF_HTTP_PROT=1", "WFX=1", "WF_NOEQUALS"});
  EXPECT_TRUE(loaded.errors.empty());
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(loaded.warnings[0], "unknown environment variable `WF_HTTP_PROT`; did you mean `WF_HTTP_PORT`");
}

TEST(Settings, TheFileMayBeNamedByFlagOrEnvironment) {
  EXPECT_EQ(Load({"--config", "no/such.yml"}).errors, std::vector<std::string>{"no/such.yml: no such file"});
  EXPECT_EQ(Load({}, {"WF_CONFIG=no/such.yml"}).errors, std::vector<std::string>{"no/such.yml: no such file"});
  EXPECT_EQ(Load({"--config=a.yml"}, {"WF_CONFIG=b.yml"}).errors, std::vector<std::string>{"a.yml: no such file"});
}

TEST(Settings, WhatToDoInsteadOfServing) {
  EXPECT_EQ(Load({"--help"}).wish, Wish::kHelp);
  EXPECT_EQ(Load({"-h", "--nonsense"}).wish, Wish::kHelp);
  EXPECT_EQ(Load({"--version"}).wish, Wish::kVersion);
  EXPECT_EQ(Load({"--print-config"}).wish, Wish::kPrintConfig);
  EXPECT_EQ(Load({"--http-port", "1", "--check-config"}).wish, Wish::kCheckConfig);
}

TEST(Settings, OneThingIsDoneInsteadOfServing) {
  EXPECT_EQ(Load({"--print-config", "--check-config"}).errors,
            std::vector<std::string>{"`--print-config` and `--check-config`: give one of them"});
  EXPECT_EQ(Load({"--check-config", "--help"}).wish, Wish::kHelp);
}

TEST(Settings, ASwitchNeedsNoValue) {
  for (const char* written : {"true", "false"}) {
    const Loaded loaded = Load({"--log-access", written, "--http-port", "1"});
    EXPECT_TRUE(loaded.errors.empty());
    EXPECT_EQ(loaded.settings.access_log, std::string_view(written) == "true");
  }
  const Loaded loaded = Load({"--log-access", "--http-port", "1"});
  ASSERT_TRUE(loaded.errors.empty());
  EXPECT_TRUE(loaded.settings.access_log);
}

TEST(Settings, PrintedConfigurationReadAgainIsTheSame) {
  const Loaded first = Load({"--model-root", "a b: \"c\" # d\\e\n\x7f\xc2\x85\xc2\x8b\xe2\x80\xa8\xc3\xa9\xf0\x9f\x99\x82",
                             "--limits-connections=5", "--schedule", "pool", "--admin-host=::1"});
  ASSERT_TRUE(first.errors.empty()) << first.errors[0];
  const Loaded second = Load({}, {}, ConfigText(first.settings).c_str());
  ASSERT_TRUE(second.errors.empty()) << second.errors[0] << ConfigText(first.settings);
  EXPECT_EQ(second.settings.values, first.settings.values);
}

TEST(Settings, ANameOfAFileIsPrintedInOneLine) {
  const std::string name = ::testing::TempDir() + "settings\na.yml";
  std::ofstream(name) << "io_threads: 1\nhttp_prt: 1\n";
  const Loaded broken = Load({"--config", name.c_str()});
  ASSERT_EQ(broken.errors.size(), 1U);
  EXPECT_EQ(broken.errors[0].find('\n'), std::string::npos) << broken.errors[0];
  std::ofstream(name) << "io_threads: 1\n";
  const Loaded loaded = Load({"--config", name.c_str()});
  std::remove(name.c_str());
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const Loaded again = Load({}, {}, ConfigText(loaded.settings).c_str());
  ASSERT_TRUE(again.errors.empty()) << again.errors[0];
  EXPECT_EQ(again.settings.io_threads, 1);
}

}  // namespace
}  // namespace wf::server
