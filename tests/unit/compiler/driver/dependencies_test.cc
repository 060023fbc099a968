#include "compiler/driver/dependencies.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

using Files = std::vector<std::string>;

TEST(Dependencies, ARuleNamesEachFileOnceAndLivesWithoutIt) {
  EXPECT_EQ(DependencyRule("out/server", {"a.wf", "b.cc", "a.wf"}), "out/server: \\\n  a.wf \\\n  b.cc\n\nb.cc:\n");
  EXPECT_EQ(DependencyRule("s", {}), "s:\n");
}

TEST(Dependencies, RulesAreReadAsTheyAreWritten) {
  const Files files = {"a b.wf", "c#d.h", "e$f.cc", "plain.h"};
  EXPECT_EQ(FilesOfRule(DependencyRule("x y", files)), files);
  EXPECT_EQ(FilesOfRule("a.o: a.cc a.h \\\n b.h\n\nb.h:\n"), (Files{"a.cc", "a.h", "b.h"}));
  EXPECT_EQ(FilesOfRule(""), Files{});
  EXPECT_EQ(FilesOfRule("a.o:"), Files{});
}

}  // namespace
}  // namespace wf::driver
