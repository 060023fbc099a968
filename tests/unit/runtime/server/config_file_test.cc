#include "runtime/server/config_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace wf::server {
namespace {

TEST(ConfigFile, EntriesHaveTheirKeysValuesAndLines) {
  const std::vector<ConfigEntry> entries = ReadConfig(
      "# a comment\nhost: 127.0.0.1\nlimits:\n  connections: 10\n  body_bytes: \"1 MiB\"\nlog: {level: debug}\nempty:\nquoted: ''\n");
  const struct {
    std::string key, value;
    int line;
    bool no_value;
  } expected[] = {{"host", "127.0.0.1", 2, false},
                  {"limits.connections", "10", 4, false},
                  {"limits.body_bytes", "1 MiB", 5, false},
                  {"log.level", "debug", 6, false},
                  {"empty", "", 7, true},
                  {"quoted", "", 8, false}};
  ASSERT_EQ(entries.size(), std::size(expected));
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].key(), expected[i].key);
    EXPECT_EQ(entries[i].value, expected[i].value);
    EXPECT_EQ(entries[i].line, expected[i].line);
    EXPECT_EQ(entries[i].no_value, expected[i].no_value) << expected[i].key;
    EXPECT_EQ(entries[i].problem, "");
  }
}

TEST(ConfigFile, AFileWithoutContentHasNoEntries) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "{}\n", "~\n"}) {
    const std::vector<ConfigEntry> entries = ReadConfig(text);
    EXPECT_EQ(entries.size(), std::string_view(text) == "~\n" ? 1U : 0U) << text;
  }
}

TEST(ConfigFile, AByteOrderMarkIsPassedOver) {
  const std::vector<ConfigEntry> entries = ReadConfig("\xef\xbb\xbfhost: a\n");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].problem, "");
  EXPECT_EQ(entries[0].key(), "host");
}

TEST(ConfigFile, AKeyThatComesTwiceHidesNothing) {
  const std::vector<ConfigEntry> entries = ReadConfig("a: 1\na: 2\nlimits: {b: 1}\nlimits:\n  c: 1\nd: 1\n");
  std::string told;
  for (const ConfigEntry& entry : entries) told += entry.problem.empty() ? entry.key() + " " : std::to_string(entry.line) + "! ";
  EXPECT_EQ(told, "a 2! limits.b 4! limits.c d ");
}

TEST(ConfigFile, WhatIsNotASimpleMappingIsRefusedWithItsLine) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"host\n", "1: expected `key: value`, found `host`"},
      {"- a\n", "1: expected `key: value`, found a list"},
      {"\nhost: [a, b]\n", "2: expected a value for `host`, found a list; several are one text, as \"a, b\""},
      {"limits:\n  connections: [1]\n", "2: expected a value for `limits.connections`, found a list; several are one text, as \"a, b\""},
      {"a: &x 1\nb: *x\n", "2: expected a value, found an alias"},
      {"a: 1\nb: !!int 2\n", "2: expected a value without a tag"},
      {"a: 1\n---\nb: 2\n", "2: expected the end, found a second document"},
      {"? {a: b}\n: c\n", "1: expected a key, found a mapping"},
      {"a: 1\nb: 2\na: 3\n", "3: `a` is already set on line 1"},
      {"limits:\n  a: 1\nlimits:\n  b: 1\n", "3: `limits` is already set on line 1"},
      {"limits:\n  a: 1\nlimits:\n  a: 1\n", "3: `limits` is already set on line 1"},
      {"nodes: {a: {b: 1}, a: {b: 1}}\n", "1: `nodes.a` is already set on line 1"},
      {"limits:\n  a: 1\n  a: 1\n", "3: `limits.a` is already set on line 2"},
      {"a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}\n", "1: nested deeper than 8"},
      {"'': 1\n", "1: a key is empty"},
      {std::string(300, 'k') + ": 1\n", "1: the key `" + std::string(64, 'k')},
      {"a: " + std::string(5000, 'v') + "\n", "1: the value of `a` is longer than 4096 bytes"},
      {"a: 1\nb: \"x\n", "not YAML"},
      {"a: 1\n\tb: 1\n", "2: not YAML"},
      {"{", "1: not YAML"},
      {"limits: {inflight: 3,\n\n\n", "1: not YAML"},
      {"a: 1\nb: \xff\n", "2: not UTF-8"},
      {"a: 1\nb: \xe9x\n", "2: not UTF-8"},
      {"a: \x01\nb: \xff\n", "1: not YAML"},
      {"a: 1\nb: \x01\n", "2: not YAML"},
  };
  for (const auto& at : cases) {
    std::string told;
    for (const ConfigEntry& entry : ReadConfig(at.text))
      if (!entry.problem.empty()) told += std::to_string(entry.line) + ": " + entry.problem + "\n";
    EXPECT_NE(told.find(at.message), std::string::npos) << at.text << told;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  }
}

TEST(ConfigFile, WhatIsNoYamlInAValueThatIsNoneEndsTheFile) {
  for (const char* text : {"a: [1,\n", "a: [1, {b: [\n", "a: {b: [1\nc: }\n", "a: !!map {b: [\n", "a: [\"\n"}) {
    const std::vector<ConfigEntry> entries = ReadConfig(text);
    ASSERT_FALSE(entries.empty()) << text;
    EXPECT_NE(entries.back().problem.find("not YAML"), std::string::npos) << text << entries.back().problem;
  }
}

TEST(ConfigFile, BehindAValueThatIsNoneTheFileGoesOn) {
  const std::string deep = "a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}\n", text = "v: " + std::string(5000, 'v') + "\n";
  const std::vector<ConfigEntry> entries =
      ReadConfig("l: [a, {b: [c]}]\nm:\n  l: [1]\n  n: 1\nx: &x 1\ny: *x\nt: !!map {u: {}}\n" + deep + text + "z: 1\nz: [1]\nend: 1\n");
  std::string told;
  for (const ConfigEntry& entry : entries) told += entry.problem.empty() ? entry.key() + " " : std::to_string(entry.line) + "! ";
  EXPECT_EQ(told, "1! 3! m.n x 6! 7! 8! 9! z 11! end ");
  EXPECT_EQ(entries.back().line, 12);
}

TEST(ConfigFile, DeepAndLongTextsEndSoon) {
  for (const std::string& text : {"a: " + std::string(100'000, '['), std::string(100'000, '{'), std::string(100'000, '\0')}) {
    const std::vector<ConfigEntry> entries = ReadConfig(text);
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_NE(entries[0].problem, "");
  }
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "k" + std::to_string(i) + ": v\n";
  EXPECT_EQ(ReadConfig(many).size(), 20'000u);
}

TEST(ConfigFile, AFileThatCannotBeReadIsNamedWithTheReason) {
  EXPECT_EQ(ReadConfigFile("no/such/server.yml").status().message(), "no/such/server.yml: no such file");
  EXPECT_EQ(ReadConfigFile("no/such/server.yml").status().code(), base::kNotFound);
  EXPECT_EQ(ReadConfigFile("/").status().code(), base::kPermissionDenied);
  EXPECT_EQ(ReadConfigFile("/").status().message(), "/: it is a folder");
  EXPECT_EQ(ReadConfigFile("/dev/zero").status().message(), "/dev/zero: larger than 1 MiB");
}

TEST(ConfigFile, WhatIsNoRegularFileIsReadOnceAlone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "a: 1\n", 5), 5);
  close(ends[1]);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  const auto read = ReadConfigFile(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, "a: 1\n");
  EXPECT_EQ(ReadConfigFile(path, true).status().message(), path + ": not a regular file, so it is read at the start alone");
  close(ends[0]);
}

TEST(ConfigFile, ATextOfUpToTheLimitIsReadWhole) {
  const std::string path = testing::TempDir() + "wf-config-" + std::to_string(getpid());
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  const std::string text(kMaxConfigBytes, '#');
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  const auto read = ReadConfigFile(path);
  unlink(path.c_str());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, text);
}

}  // namespace
}  // namespace wf::server
