#include "runtime/protocol/http/head.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::http {
namespace {

// What the part decodes to, or "refused".
std::string Decoded(std::string_view text, Part part) {
  std::vector<char> storage;
  std::string_view decoded;
  return PercentDecode(text, part, &decoded, &storage) ? std::string(decoded) : "refused";
}

TEST(PercentDecode, TakesEscapesOfEitherCase) {
  EXPECT_EQ(Decoded("/plain", Part::kPath), "/plain");
  EXPECT_EQ(Decoded("/%47reet%c3%A9", Part::kPath), "/Greet\xc3\xa9");
  EXPECT_EQ(Decoded("%25%34%37", Part::kPath), "%47") << "once";
  EXPECT_EQ(Decoded("", Part::kPath), "");
}

TEST(PercentDecode, RefusesWhatEndsEarlyOrCannotStandThere) {
  for (const std::string_view text : {"%", "%4", "a%", "%g0", "%4g", "%-1"}) {
    EXPECT_EQ(Decoded(text, Part::kPath), "refused") << text;
    EXPECT_EQ(Decoded(text, Part::kQuery), "refused") << text;
  }
  EXPECT_EQ(Decoded("/a%00b", Part::kPath), "refused");
  EXPECT_EQ(Decoded("a%00b", Part::kQuery), std::string_view("a\0b", 3)) << "as a string in JSON may hold it";
  EXPECT_EQ(Decoded("/a%2Fb", Part::kPath), "refused") << "it would not be the separator";
  EXPECT_EQ(Decoded("a%2fb", Part::kQuery), "a/b");
}

TEST(PercentDecode, APlusIsASpaceInAQueryAlone) {
  EXPECT_EQ(Decoded("a+b%2B", Part::kQuery), "a b+");
  EXPECT_EQ(Decoded("/a+b", Part::kPath), "/a+b");
}

TEST(Head, CutsTheTargetAtTheFirstQuestionMark) {
  Head head;
  head.SetPathAndQuery("/a?b=1?c");
  EXPECT_EQ(head.path, "/a");
  EXPECT_EQ(head.query, "b=1?c");
  head.SetPathAndQuery("?x");
  EXPECT_EQ(head.path, "/");
  EXPECT_EQ(head.query, "x");
  head.SetPathAndQuery("/a");
  EXPECT_EQ(head.query, "");
}

TEST(Head, OneSlashAtTheEndOfAPathIsAsNone) {
  Head head;
  head.SetPathAndQuery("/a/b/?c=d/");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.query, "c=d/");
  EXPECT_EQ(head.path_as_sent(), "/a/b/");
  head.SetPathAndQuery("/a//");
  EXPECT_EQ(head.path, "/a/");
  EXPECT_EQ(head.path_as_sent(), "/a//");
  Head copy;
  ASSERT_TRUE(copy.CopyOf(head));
  EXPECT_EQ(copy.path_as_sent(), "/a//");
  head.SetPathAndQuery("/");
  EXPECT_EQ(head.path, "/");
  EXPECT_EQ(head.path_as_sent(), "/");
  head.SetPathAndQuery("//");
  EXPECT_EQ(head.path, "/");
  EXPECT_EQ(head.path_as_sent(), "//");
  head.Clear();
  EXPECT_EQ(head.path_as_sent(), "");
}

TEST(Head, FieldsStayWhereTheirViewsSayWhileOthersAreAdded) {
  Head head;
  std::string name = "name0", value = "first";
  head.Add(name, value);
  name = value = "overwritten";
  for (int i = 1; i < 500; ++i) head.Add("name" + std::to_string(i), std::string(20, 'v'));
  EXPECT_EQ(head.Find("name0"), "first");
  EXPECT_EQ(head.Find("name499"), std::string(20, 'v'));
  EXPECT_EQ(head.Find("none").data(), nullptr);
  head.DropFirst(1);
  EXPECT_EQ(head.Find("name0").data(), nullptr);
  EXPECT_EQ(head.headers().front().name, "name1");
}

TEST(Head, ViewsOfOtherBytesStayWhileFieldsAreAdded) {
  const std::string name = "allow", value = "GET, HEAD";
  Head head;
  head.Add("first", "1");
  head.AddLast({name, value});
  head.Add(":path", "/a?b");
  head.SetPathAndQuery(head.Find(":path"));
  head.Add("long", std::string(100'000, 'v'));
  head.Add("last", "");
  EXPECT_EQ(head.headers()[1].name.data(), name.data());
  EXPECT_EQ(head.headers()[1].value.data(), value.data());
  EXPECT_EQ(head.Find("first"), "1");
  EXPECT_EQ(head.Find("last"), "");
  EXPECT_EQ(head.path, "/a");
  EXPECT_EQ(head.query, "b");
  EXPECT_EQ(head.path.data(), head.Find(":path").data());
}

TEST(Head, TheFirstOfEqualNamesIsFoundAndAnEmptyValueIsOne) {
  Head head;
  head.Add("a", "");
  head.Add("a", "second");
  EXPECT_NE(head.Find("a").data(), nullptr);
  EXPECT_EQ(head.Find("a"), "");
}

TEST(Head, CookiesThatCameInSeveralFieldsAreOne) {
  Head head;
  head.Add("cookie", "a=1");
  EXPECT_TRUE(head.JoinCookies());
  EXPECT_EQ(head.Find("cookie"), "a=1");
  head.Add("x", "y");
  head.Add("cookie", "b=2");
  head.Add("cookie", std::string(5000, 'c'));  // the bytes move
  EXPECT_TRUE(head.JoinCookies());
  ASSERT_EQ(head.headers().size(), 2U);
  EXPECT_EQ(head.Find("cookie"), "a=1; b=2; " + std::string(5000, 'c'));
  EXPECT_EQ(head.Find("x"), "y");
}

TEST(MethodOf, KnowsWhatTheServerTakes) {
  EXPECT_EQ(MethodOf("GET"), Method::kGet);
  EXPECT_EQ(MethodOf("HEAD"), Method::kHead);
  EXPECT_EQ(MethodOf("POST"), Method::kPost);
  for (const std::string_view other : {"get", "PUT", "", "POSTS"}) EXPECT_EQ(MethodOf(other), Method::kOther) << other;
}

}  // namespace
}  // namespace wf::http
