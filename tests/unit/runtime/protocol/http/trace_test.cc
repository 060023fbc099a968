#include "runtime/protocol/http/trace.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::http {
namespace {

const std::string kId = "4bf92f3577b34da6a3ce929d0e0e4736", kSpan = "00f067aa0ba902b7";
const std::string kGood = "00-" + kId + "-" + kSpan + "-01";

Trace TraceOf(const std::vector<std::string>& values) {
  Head head;
  head.Add("host", "t");
  for (const std::string& value : values) head.Add("traceparent", value);
  Trace trace;
  trace.Take(head, 0x0123456789abcdef);
  return trace;
}

TEST(Trace, KeepsTheTraceAndGivesItsOwnSpan) {
  const Trace trace = TraceOf({kGood});
  ASSERT_TRUE(trace.known());
  EXPECT_EQ(trace.trace_id(), kId);
  EXPECT_EQ(trace.span_id(), "0123456789abcdef");
  EXPECT_EQ(trace.parent(), "00-" + kId + "-0123456789abcdef-01");
}

TEST(Trace, LaterVersionsAreReadAsThisOne) {
  for (const std::string& text : {"cc-" + kId + "-" + kSpan + "-00", "01-" + kId + "-" + kSpan + "-00-what-the-future-will-be-like"})
    EXPECT_EQ(TraceOf({text}).parent(), "00-" + kId + "-0123456789abcdef-00") << text;
}

TEST(Trace, WhatIsBrokenIsNone) {
  const std::string zeros(32, '0');
  for (const std::string& text :
       {std::string(), std::string("00"), kGood.substr(0, 54), kGood + "-", kGood + "0", "ff-" + kId + "-" + kSpan + "-01",
        "00-" + zeros + "-" + kSpan + "-01", "00-" + kId + "-" + zeros.substr(16) + "-01", "00-" + kId + "-" + kSpan + "-0G",
        "00_" + kId + "-" + kSpan + "-01", "01-" + kId + "-" + kSpan + "-01x", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01",
        "0x-" + kId + "-" + kSpan + "-01"})
    EXPECT_FALSE(TraceOf({text}).known()) << text;
  EXPECT_FALSE(TraceOf({kGood, kGood}).known());
  const Trace none = TraceOf({});
  EXPECT_TRUE(none.parent().empty() && none.trace_id().empty() && none.span_id().empty());
}

// Level 2 knows two; a later version may mean others by the rest.
TEST(Trace, FlagsThatNobodyKnowsAreNotPassedOn) {
  EXPECT_EQ(TraceOf({"00-" + kId + "-" + kSpan + "-ff"}).parent(), "00-" + kId + "-0123456789abcdef-03");
  EXPECT_EQ(TraceOf({"00-" + kId + "-" + kSpan + "-f8"}).parent(), "00-" + kId + "-0123456789abcdef-00");
}

std::string StateOfFields(const std::vector<std::string>& values) {
  Head head;
  head.Add("host", "t");
  for (const std::string& value : values) head.Add("tracestate", value);
  return StateOf(head);
}

TEST(TraceState, IsOneListOfAllItsFields) {
  EXPECT_EQ(StateOfFields({}), "");
  EXPECT_EQ(StateOfFields({"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"}), "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(StateOfFields({"rojo=1 , ,\tcongo=t 6", "", "0a@v-_*/=x"}), "rojo=1,congo=t 6,0a@v-_*/=x");
}

TEST(TraceState, WhatIsBrokenIsNone) {
  const std::string long_key(257, 'k'), tenant(242, 't');
  for (const std::string& text :
       {std::string("a"), std::string("a="), std::string("=b"), std::string("A=b"), std::string("1a=b"), std::string("a=b=c"),
        std::string("a=1,a=2"), std::string("a b=1"), std::string("a@=1"), std::string("@a=1"), std::string("a@1=1"),
        std::string("a@b@c=1"), std::string("a=\x01"), std::string("a=\xc3\xa9"), long_key + "=1", tenant + "@s=1",
        "t@" + std::string(15, 's') + "=1", "a=" + std::string(257, 'v')})
    EXPECT_EQ(StateOfFields({"good=1", text}), "") << text;
  std::string many;
  for (int i = 0; i < 32; ++i) many += "k" + std::to_string(i) + "=v,";
  EXPECT_EQ(StateOfFields({many}) + ",", many);
  EXPECT_EQ(StateOfFields({many + "k32=v"}), "");
}

TEST(TraceState, LosesWholeMembersWhereItIsTooLong) {
  const std::string large = "l=" + std::string(200, 'x'), other = "m=" + std::string(200, 'y'), small = "s=" + std::string(100, 'z');
  EXPECT_EQ(StateOfFields({large + "," + small + "," + other}), large + "," + small + "," + other);
  EXPECT_EQ(StateOfFields({large + "," + small + "," + other + ",e=" + std::string(100, 'e')}),
            large + "," + small + ",e=" + std::string(100, 'e'));
  std::string many;
  for (int i = 10; i < 20; ++i) many += (many.empty() ? "k" : ",k") + std::to_string(i) + "=" + std::string(60, 'v');
  EXPECT_EQ(StateOfFields({many}), many.substr(0, 8 * 65 - 1 - 65));
}

TEST(Trace, TellsWhetherItsSpansAreKeptAndUnderWhich) {
  EXPECT_TRUE(TraceOf({kGood}).sampled());
  EXPECT_FALSE(TraceOf({"00-" + kId + "-" + kSpan + "-02"}).sampled());
  EXPECT_FALSE(TraceOf({}).sampled());
  const Trace::Ids ids = TraceOf({kGood}).ids();
  EXPECT_EQ(ids.trace_high, 0x4bf92f3577b34da6);
  EXPECT_EQ(ids.trace_low, 0xa3ce929d0e0e4736);
  EXPECT_EQ(ids.span, 0x0123456789abcdef);
  EXPECT_EQ(ids.parent, 0x00f067aa0ba902b7);
}

TEST(Trace, OneThatBeginsHereHasNoParent) {
  Trace trace;
  trace.Begin(0x1, 0xabcdef, 0x77);
  EXPECT_EQ(trace.parent(), "00-00000000000000010000000000abcdef-0000000000000077-01");
  EXPECT_TRUE(trace.known() && trace.sampled());
  EXPECT_EQ(trace.ids().parent, 0U);
  trace.SetSpan(0x78);
  EXPECT_EQ(trace.span_id(), "0000000000000078");
}

}  // namespace
}  // namespace wf::http
