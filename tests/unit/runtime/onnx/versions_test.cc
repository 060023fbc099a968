#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/onnx/reader.h"

namespace wf::onnx {
namespace {

TEST(FindVersions, ListsNumberedFoldersInOrder) {
  const auto root = std::filesystem::temp_directory_path() / ("wf_versions_" + std::to_string(getpid()));
  const auto touch = [&](const std::string& file) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << "x";
  };
  for (const char* file :
       {"10/model.onnx", "2/model.onnx", "3/other.onnx", "notes/model.onnx", "-4/model.onnx", "99999999999999999999/model.onnx"})
    touch(file);
  std::vector<std::string> skipped;
  const auto found = FindVersions(root.string(), &skipped);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const std::vector<VersionFile> wanted = {{2, root.string() + "/2/model.onnx"}, {10, root.string() + "/10/model.onnx"}};
  EXPECT_EQ(*found, wanted);
  std::sort(skipped.begin(), skipped.end());
  EXPECT_EQ(skipped, (std::vector<std::string>{"`" + root.string() + "/3`: no file model.onnx in it",
                                               "`" + root.string() + "/99999999999999999999`: its number is above 2^63 - 1"}));
  touch("02/model.onnx");
  EXPECT_NE(FindVersions(root.string()).status().message().find("are the same version"), std::string::npos);
  EXPECT_EQ((*FindVersions((root / "2/model.onnx").string()))[0].version, 1);
  std::filesystem::remove_all(root);
  EXPECT_EQ(FindVersions(root.string()).status().code(), base::kNotFound);
}

}  // namespace
}  // namespace wf::onnx
