#include "runtime/server/configuration.h"

#include <gtest/gtest.h>

namespace wf::server {
namespace {

Settings Load(std::string_view text) {
  const Loaded loaded = LoadSettings({.config_text = &text});
  EXPECT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  return loaded.settings;
}

TEST(Configuration, WhatIsReloadableChangesAndTheRestStaysWithALine) {
  std::vector<std::string> kept;
  int changed = 0;
  const Settings now =
      Reloaded(Load("io_threads: 2\n"), Load("io_threads: 3\ndefault_timeout: 5s\nlimits: {body_bytes: 1KiB}\n"), &kept, &changed);
  EXPECT_EQ(now.io_threads, 2);
  EXPECT_EQ(now.default_timeout.ns, 5'000'000'000);
  EXPECT_EQ(now.body_bytes.value, 1024);
  EXPECT_EQ(changed, 2);
  EXPECT_EQ(kept, std::vector<std::string>{"config:1: `io_threads` is `3`, but changes only with a restart; it stays `2`"});
}

TEST(Configuration, TlsChangesItsFilesButIsNeitherTurnedOnNorOff) {
  const std::string_view first = "tls: {cert: a, key: b}\n", second = "tls: {cert: c, key: d, client_ca: e, min_version: 1.3}\n", none = "";
  std::vector<std::string> kept;
  int changed = 0;
  const Settings now = Reloaded(Load(first), Load(second), &kept, &changed);
  EXPECT_EQ(now.tls_cert + now.tls_key + now.tls_client_ca, "cde");
  EXPECT_EQ(now.tls_min_version, TlsVersion::k1_3);
  EXPECT_EQ(changed, 4);
  EXPECT_TRUE(kept.empty());
  EXPECT_EQ(Reloaded(Load(second), Load(none), &kept, &changed).tls_client_ca, "e");
  EXPECT_EQ(kept.size(), 4U);
  EXPECT_EQ(Reloaded(Load(none), Load(first), &kept, &changed).tls_cert, "");
  EXPECT_EQ(kept.back(), "config:1: `tls.key` is `b`, but changes only with a restart; it stays ``");
}

TEST(Configuration, NodesChangeAsOne) {
  Settings running = Load(""), next = running;
  next.nodes = {{.path = "a", .source = "config:2", .batch = 4}, {.path = "b", .source = "config:3", .queue = 5}};
  std::vector<std::string> kept;
  int changed = 0;
  EXPECT_EQ(Reloaded(running, next, &kept, &changed).nodes, next.nodes);
  EXPECT_EQ(changed, 1);
  EXPECT_TRUE(kept.empty());
  Settings elsewhere = next;
  elsewhere.nodes[1].source = "config:9";
  std::swap(elsewhere.nodes[0], elsewhere.nodes[1]);
  Reloaded(next, elsewhere, &kept, &changed);
  EXPECT_EQ(changed, 0);
}

TEST(Configuration, TheSameInAnotherSpellingChangesNothing) {
  constexpr std::string_view kFirst =
      "host: ::1\nlisten_mode: 0660\nlimits: {connections: 64, request_bytes: 1024KiB, timeout: 60s}\ndefault_timeout: 1000ms\n"
      "cors: {origins: 'https://a, https://b'}\nlog: {access_sample: 0.5}\ntrace: {otlp: 'http://a'}\n";
  constexpr std::string_view kSecond =
      "default_timeout: 1s\nlimits: {timeout: 1m, request_bytes: 1MiB, connections: 64}\nlisten_mode: '660'\nhost: 0::1\n"
      "cors: {origins: 'https://a,https://b'}\nlog: {access_sample: 0.50}\ntrace: {otlp: 'http://a:4318'}\n";
  std::vector<std::string> kept;
  int changed = 0;
  Reloaded(Load(kFirst), Load(kSecond), &kept, &changed);
  EXPECT_EQ(changed, 0);
  EXPECT_EQ(kept, std::vector<std::string>());
}

TEST(Configuration, KeysStayWithTheirValue) {
  const char* const first[] = {"WF_AUTH_KEYS=0123456789abcdef", nullptr};
  const char* const second[] = {"WF_AUTH_KEYS=fedcba9876543210", nullptr};
  std::vector<std::string> kept;
  int changed = 0;
  const Settings now =
      Reloaded(LoadSettings({.environment = first}).settings, LoadSettings({.environment = second}).settings, &kept, &changed);
  EXPECT_EQ(now.auth_keys.text, "0123456789abcdef");
  EXPECT_EQ(kept.size(), 1U);
}

TEST(Configuration, TheSameAgainChangesNothing) {
  std::vector<std::string> kept;
  int changed = 0;
  Reloaded(Load("log: {level: debug}\n"), Load("\nlog: {level: debug}\n"), &kept, &changed);
  EXPECT_EQ(changed, 0);
  EXPECT_TRUE(kept.empty());
}

TEST(Configuration, IsUnusedOnceEveryLoopHasLeftIt) {
  const Configuration configuration(1, wf_plan{}, Load("default_timeout: 2s\nlimits: {timeout: 3s}\n"), 2);
  EXPECT_EQ(configuration.deadlines.default_ns, 2'000'000'000);
  EXPECT_EQ(configuration.deadlines.most_ns, 3'000'000'000);
  configuration.Leave();
  EXPECT_FALSE(configuration.unused());
  configuration.Leave();
  EXPECT_TRUE(configuration.unused());
}

}  // namespace
}  // namespace wf::server
