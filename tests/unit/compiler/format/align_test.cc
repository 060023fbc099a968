#include "compiler/format/align.h"

#include <gtest/gtest.h>

namespace wf::format {
namespace {

std::string Aligned(const std::string& text) {
  std::vector<size_t> comments;
  for (size_t at = text.find("//"); at != std::string::npos; at = text.find("//", at + 1)) comments.push_back(at);
  return AlignComments(text, comments);
}

TEST(AlignComments, PutsNeighboursIntoOneColumn) {
  EXPECT_EQ(Aligned("a // 1\nlong // 2\nb\nx // 3\n"), "a    // 1\nlong // 2\nb\nx // 3\n");
}
TEST(AlignComments, CountsCharacters) { EXPECT_EQ(Aligned("\"ä\" // 1\nlong // 2\n"), "\"ä\"  // 1\nlong // 2\n"); }
TEST(AlignComments, LeavesOtherTextAlone) { EXPECT_EQ(Aligned("a\nb\n"), "a\nb\n"); }

}  // namespace
}  // namespace wf::format
