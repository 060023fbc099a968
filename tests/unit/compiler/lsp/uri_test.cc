#include "compiler/lsp/uri.h"

#include <gtest/gtest.h>

namespace wf::lsp {
namespace {

TEST(Uri, GoesThereAndBack) {
  for (const std::string path : {"/a/b.wf", "/with space/\u00e9/x+y.wf", "/100%/a#b?c.wf"}) EXPECT_EQ(PathOf(UriOf(path)), path);
  EXPECT_EQ(UriOf("/a b.wf"), "file:///a%20b.wf");
  EXPECT_EQ(PathOf("file://localhost/a/../b.wf"), "/b.wf");
}

TEST(Uri, LeavesWhatIsNoFile) {
  for (const std::string uri : {"untitled:Untitled-1", "git:/a.wf", "", "file:"}) {
    EXPECT_EQ(PathOf(uri), uri);
    EXPECT_EQ(UriOf(uri), uri);
  }
}

TEST(Uri, TakesDamagedEscapesAsTheyStand) {
  EXPECT_EQ(PathOf("file:///a%"), "/a%");
  EXPECT_EQ(PathOf("file:///a%2"), "/a%2");
  EXPECT_EQ(PathOf("file:///a%zz"), "/a%zz");
}

}  // namespace
}  // namespace wf::lsp
