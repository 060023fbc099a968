#include "runtime/base/name_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace wf::base {
namespace {

TEST(NearestOfParts, ThoseInFrontThatAreAlikeCountForNothing) {
  const std::vector<std::string_view> paths = {"/T/Opt", "/T/Slow", "/Hello/Greet", "/Hello/Spread"};
  for (const char* const far : {"/T/Nope", "/t/Nope", "/T/Oath", "/T/S", "/Hello/Spoon", "/Hello/", "/Hello", "/T", "/", ""})
    EXPECT_EQ(NearestOfParts(far, paths, '/'), "") << far;
  EXPECT_EQ(NearestOfParts("/T/Opr", paths, '/'), "/T/Opt");
  EXPECT_EQ(NearestOfParts("/T/Sloww", paths, '/'), "/T/Slow");
  EXPECT_EQ(NearestOfParts("/t/slow", paths, '/'), "/T/Slow");
  EXPECT_EQ(NearestOfParts("/Helo/Gret", paths, '/'), "/Hello/Greet");
  EXPECT_EQ(NearestOfParts("/Hello/Greet/x", paths, '/'), "/Hello/Greet");
  EXPECT_EQ(NearestOfParts("Hello/Greet", paths, '/'), "/Hello/Greet");
  EXPECT_EQ(NearestOfParts("/HELLO/SPRAED", paths, '/'), "/Hello/Spread");
}

}  // namespace
}  // namespace wf::base
