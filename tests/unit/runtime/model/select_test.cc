#include "runtime/model/select.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace wf::model {
namespace {

class SelectVersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("wf_select_" + std::to_string(getpid()));
    for (const char* version : {"1", "4", "10"}) {
      std::filesystem::create_directories(root_ / version);
      std::ofstream(root_ / version / "model.onnx") << "x";
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::vector<int64_t> Select(VersionPolicy::Kind kind, std::vector<int64_t> versions) {
    const auto selected = SelectVersions(root_, {kind, std::move(versions)});
    error_ = selected.ok() ? "" : selected.status().message();
    std::vector<int64_t> numbers;
    for (size_t i = 0; selected.ok() && i < selected->size(); ++i) numbers.push_back((*selected)[i].version);
    return numbers;
  }

  std::filesystem::path root_;
  std::string error_;
};

TEST_F(SelectVersionsTest, NewestFirst) {
  using enum VersionPolicy::Kind;
  EXPECT_EQ(Select(kLatest, {1}), (std::vector<int64_t>{10}));
  EXPECT_EQ(Select(kLatest, {2}), (std::vector<int64_t>{10, 4}));
  EXPECT_EQ(Select(kLatest, {9}), (std::vector<int64_t>{10, 4, 1}));
  EXPECT_EQ(Select(kAll, {}), (std::vector<int64_t>{10, 4, 1}));
  EXPECT_EQ(Select(kSpecific, {1, 10}), (std::vector<int64_t>{10, 1}));
}

TEST_F(SelectVersionsTest, AMissingVersionIsNamed) {
  EXPECT_TRUE(Select(VersionPolicy::Kind::kSpecific, {4, 5}).empty());
  EXPECT_NE(error_.find("version 5 is not there; the newest is 10"), std::string::npos) << error_;
}

}  // namespace
}  // namespace wf::model
