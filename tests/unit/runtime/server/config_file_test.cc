#include "runtime/server/config_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

namespace wf::server {
namespace {

TEST(ConfigFile, EntriesHaveTheirKeysValuesAndLines) {
  const auto entries = ReadConfig(
      "# a comment\nhost: 127.0.0.1\nlimits:\n  connections: 10\n  body_bytes: \"1 MiB\"\nlog: {level: debug}\nempty:\nquoted: ''\n");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
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
  ASSERT_EQ(entries->size(), std::size(expected));
  for (size_t i = 0; i < entries->size(); ++i) {
    EXPECT_EQ((*entries)[i].key(), expected[i].key);
    EXPECT_EQ((*entries)[i].value, expected[i].value);
    EXPECT_EQ((*entries)[i].line, expected[i].line);
    EXPECT_EQ((*entries)[i].no_value, expected[i].no_value) << expected[i].key;
  }
}

TEST(ConfigFile, AFileWithoutContentHasNoEntries) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "{}\n", "~\n"}) {
    const auto entries = ReadConfig(text);
    if (std::string_view(text) == "~\n") {
      EXPECT_FALSE(entries.ok());
      continue;
    }
    ASSERT_TRUE(entries.ok()) << text << entries.status().message();
    EXPECT_TRUE(entries->empty()) << text;
  }
}

TEST(ConfigFile, WhatIsNotASimpleMappingIsRefusedWithItsLine) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"host\n", "1: expected `key: value`, found `host`"},
      {"- a\n", "1: expected `key: value`, found a list"},
      {"\nhost: [a, b]\n", "2: expected a value for `host`, found a list"},
      {"limits:\n  connections: [1]\n", "2: expected a value for `limits.connections`, found a list"},
      {"a: &x 1\nb: *x\n", "2: expected a value, found an alias"},
      {"a: 1\nb: !!int 2\n", "2: expected a value without a tag"},
      {"a: 1\n---\nb: 2\n", "2: expected the end, found a second document"},
      {"? {a: b}\n: c\n", "1: expected a key, found a mapping"},
      {"a: 1\nb: 2\na: 3\n", "3: `a` is already set on line 1"},
      {"limits:\n  a: 1\nlimits:\n  b: 1\n", "3: `limits` is already set on line 1"},
      {"limits:\n  a: 1\n  a: 1\n", "3: `limits.a` is already set on line 2"},
      {"a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}\n", "1: nested deeper than 8"},
      {"'': 1\n", "1: a key is empty"},
      {std::string(300, 'k') + ": 1\n", "1: the key `" + std::string(64, 'k')},
      {"a: " + std::string(5000, 'v') + "\n", "1: the value of `a` is longer than 4096 bytes"},
      {"a: 1\nb: \"x\n", "not YAML"},
      {"a: 1\n\tb: 1\n", "2: not YAML"},
      {"a: 1\nb: \xff\n", "2: not UTF-8"},
      {"a: 1\nb: \xe9x\n", "2: not UTF-8"},
      {"a: \x01\nb: \xff\n", "1: not YAML"},
      {"a: 1\nb: \x01\n", "2: not YAML"},
  };
  for (const auto& at : cases) {
    const auto entries = ReadConfig(at.text);
    ASSERT_FALSE(entries.ok()) << at.text;
    EXPECT_NE(entries.status().message().find(at.message), std::string::npos) << at.text << entries.status().message();
  }
}

TEST(ConfigFile, DeepAndLongTextsEndSoon) {
  EXPECT_FALSE(ReadConfig("a: " + std::string(100'000, '[')).ok());
  EXPECT_FALSE(ReadConfig(std::string(100'000, '{')).ok());
  EXPECT_FALSE(ReadConfig(std::string(100'000, '\0')).ok());
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "k" + std::to_string(i) + ": v\n";
  const auto entries = ReadConfig(many);
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(entries->size(), 20'000u);
}

TEST(ConfigFile, AFileThatCannotBeReadIsNamedWithTheReason) {
  EXPECT_EQ(ReadConfigFile("no/such/server.yml").status().message(), "no/such/server.yml: No such file or directory");
  EXPECT_EQ(ReadConfigFile("/").status().message(), "/: Is a directory");
  EXPECT_EQ(ReadConfigFile("/dev/zero").status().message(), "/dev/zero: larger than 1 MiB");
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
