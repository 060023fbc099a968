#include "runtime/base/node_path.h"

#include <gtest/gtest.h>

#include <vector>

namespace wf::base {
namespace {

TEST(NodePath, PutsNumbersBehindTheFanOutsAround) {
  const std::vector<FanOutElement> texts = {{"Read/texts", 3}};
  EXPECT_EQ(NodePath("Read/texts/Recognise", texts), "Read/texts[3]/Recognise");
  EXPECT_EQ(NodePath("Read/texts", texts), "Read/texts[3]");
  EXPECT_EQ(NodePath("Read/textsOfAll", texts), "Read/textsOfAll") << "another node whose name begins so";
  EXPECT_EQ(NodePath("Read/other", texts), "Read/other");
  EXPECT_EQ(NodePath("Read/x", {}), "Read/x");
}

TEST(NodePath, CountsTheLoopsOfOneNodeOutermostFirst) {
  EXPECT_EQ(NodePath("W/a", std::vector<FanOutElement>{{"W/a", 1}, {"W/a", 2}}), "W/a[1][2]");
  EXPECT_EQ(NodePath("W/a/b/c", std::vector<FanOutElement>{{"W/a", 1}, {"W/a/b", 2}}), "W/a[1]/b[2]/c");
}

TEST(NodePath, NamesSoManyElementsAtMost) {
  const std::vector<FanOutElement> deep(kMostElementsNamed + 2, {"W/a", 7});
  EXPECT_EQ(NodePath("W/a", deep), "W/a[7][7][7][7]");
}

}  // namespace
}  // namespace wf::base
