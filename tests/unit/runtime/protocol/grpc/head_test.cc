#include "runtime/protocol/grpc/head.h"

#include <gtest/gtest.h>

namespace wf::grpc {
namespace {

TEST(GrpcHead, ContentTypes) {
  for (const char* text :
       {"application/grpc", "application/grpc+proto", "Application/GRPC", "application/grpc;charset=utf-8", "application/grpc+proto ; a=b"})
    EXPECT_TRUE(IsContentType(text)) << text;
  for (const char* text :
       {"", "application/grp", "application/grpc-web", "application/grpc+json", "application/grpc+protobuf", "application/json"})
    EXPECT_FALSE(IsContentType(text)) << text;
}

TEST(GrpcHead, TimeoutsOfEveryUnit) {
  EXPECT_EQ(ParseTimeout("1n"), 1);
  EXPECT_EQ(ParseTimeout("20u"), 20'000);
  EXPECT_EQ(ParseTimeout("100m"), 100'000'000);
  EXPECT_EQ(ParseTimeout("3S"), 3'000'000'000);
  EXPECT_EQ(ParseTimeout("2M"), 120'000'000'000);
  EXPECT_EQ(ParseTimeout("0001H"), 3'600'000'000'000);
  EXPECT_EQ(ParseTimeout("0S"), 0);
  EXPECT_EQ(ParseTimeout("99999999H"), kMostTimeoutNs);
  EXPECT_EQ(ParseTimeout("1300000H"), kMostTimeoutNs);
}

TEST(GrpcHead, WhatIsNoTimeout) {
  for (const char* text : {"", "S", "1", "1s", "-1S", "+1S", "1 S", "1.5S", "123456789S", "1SS"}) EXPECT_EQ(ParseTimeout(text), -1) << text;
}

TEST(GrpcHead, MessagesAreAsciiWithoutPercent) {
  std::vector<char> storage;
  EXPECT_EQ(PercentEncode("plain text, ~", &storage), "plain text, ~");
  EXPECT_EQ(PercentEncode("100 % of Zo\xc3\xab\n", &storage), "100 %25 of Zo%C3%AB%0A");
  EXPECT_EQ(PercentEncode("", &storage), "");
  EXPECT_EQ(PercentEncode(" x  y ", &storage), "%20x  y%20");
  EXPECT_EQ(PercentEncode(" ", &storage), "%20");
}

}  // namespace
}  // namespace wf::grpc
