#include "compiler/driver/parsed_files.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

using source::FileId;

std::shared_ptr<const ast::File> TreeOf(FileId id) {
  auto tree = std::make_shared<ast::File>();
  tree->id = id;
  return tree;
}

TEST(ParsedFiles, KeepsATreeForItsTextAndNumber) {
  ParsedFiles files;
  const auto tree = TreeOf(FileId{1});
  files.Add("a.wf", "const A = 1;", tree);
  EXPECT_EQ(files.Find("a.wf", FileId{1}, "const A = 1;"), tree);
  EXPECT_EQ(files.Find("a.wf", FileId{1}, "const A = 2;"), nullptr);
  EXPECT_EQ(files.Find("a.wf", FileId{2}, "const A = 1;"), nullptr);  // its spans would name another file
  EXPECT_EQ(files.Find("b.wf", FileId{1}, "const A = 1;"), nullptr);
  const auto later = TreeOf(FileId{1});
  files.Add("a.wf", "const A = 2;", later);
  EXPECT_EQ(files.Find("a.wf", FileId{1}, "const A = 2;"), later);
}

TEST(ParsedFiles, AreBounded) {
  ParsedFiles files;
  const std::string large(ParsedFiles::kMostBytes / 2 + 1, ' '), too_large(ParsedFiles::kMostBytes + 1, ' ');
  files.Add("a.wf", large, TreeOf(FileId{1}));
  files.Add("b.wf", large, TreeOf(FileId{2}));
  EXPECT_EQ(files.Find("a.wf", FileId{1}, large), nullptr);
  EXPECT_NE(files.Find("b.wf", FileId{2}, large), nullptr);
  files.Add("c.wf", too_large, TreeOf(FileId{3}));
  EXPECT_EQ(files.Find("c.wf", FileId{3}, too_large), nullptr);
}

}  // namespace
}  // namespace wf::driver
