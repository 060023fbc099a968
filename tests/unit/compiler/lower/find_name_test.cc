#include "compiler/lower/find_name.h"

#include <gtest/gtest.h>

namespace wf::lower {
namespace {

TEST(FindName, GivesEveryNameACellOfItsOwn) {
  std::vector<std::string> names;
  for (int n = 0; n < 60; ++n) {
    const PerfectHash hash = FindPerfectHash(names);
    for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(hash.table[hash.CellOf(names[i])], static_cast<int16_t>(i)) << n;
    EXPECT_LE(hash.table.size(), 16 * names.size() + 1);
    names.push_back("member" + std::to_string(n));
  }
}

}  // namespace
}  // namespace wf::lower
