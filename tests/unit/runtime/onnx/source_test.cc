#include "runtime/onnx/source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;
namespace fs = std::filesystem;

// A folder with a model whose weight of 64 bytes is in another file, and files that it must not reach.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("wf_external_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "models/sub");
    Write(root_ / "secret", 64);
    Write(root_ / "models/weights", 100);
    Write(root_ / "models/sub/weights", 64);
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, size_t size) { std::ofstream(path) << std::string(size, '\0'); }

  struct Entry {
    std::string key, value;
  };
  base::Result<Model> Read(const std::vector<Entry>& entries) {
    Builder b;
    b.Input("x", {16}).Output("y");
    pb::TensorProto& tensor = b.Tensor("w", {16}, pb::FLOAT);
    tensor.set_data_location(1);
    for (const Entry& entry : entries) {
      auto& added = *tensor.add_external_data();
      added.set_key(entry.key);
      added.set_value(entry.value);
    }
    b.Node("Add", {"x", "w"}, {"y"});
    const std::string path = root_ / "models/model.onnx";
    std::ofstream(path, std::ios::binary) << b.Bytes();
    return ReadModel(path);
  }
  std::string Error(const std::vector<Entry>& entries) {
    const auto model = Read(entries);
    return model.ok() ? "" : model.status().message();
  }
  void ExpectRefused(const std::string& location, const std::string& why) {
    const std::string error = Error({{"location", location}});
    EXPECT_NE(error.find(why), std::string::npos) << location << ": " << error;
    EXPECT_NE(error.find("initialiser `w`"), std::string::npos) << error;
    const size_t named = error.find("model.onnx");
    EXPECT_NE(named, std::string::npos) << error;
    EXPECT_EQ(error.find("model.onnx", named + 1), std::string::npos) << error;
  }

  fs::path root_;
};

TEST_F(ExternalData, IsReadBesideAndBelowTheModel) {
  EXPECT_EQ(Error({{"location", "weights"}, {"offset", "36"}, {"length", "64"}}), "");
  EXPECT_EQ(Error({{"location", "sub/weights"}}), "");
  const auto model = Read({{"location", "weights"}, {"offset", "36"}});
  ASSERT_TRUE(model.ok());
  std::vector<uint8_t> elements(64, 1);
  ASSERT_TRUE(ReadElements(*model, model->graph.weight(0), elements).ok());
  EXPECT_EQ(elements[63], 0);
}

TEST_F(ExternalData, NeverLeavesTheFolder) {
  ExpectRefused("../secret", "leaves the model's folder");
  ExpectRefused("sub/../../secret", "leaves the model's folder");
  ExpectRefused("sub/../weights", "leaves the model's folder");
  ExpectRefused((root_ / "secret").string(), "is an absolute path");
  ExpectRefused("", "has no usable name");
  ExpectRefused("sub/", "has no usable name");
  ExpectRefused(std::string("weights\0/../../secret", 20), "which is no name");
  ExpectRefused("absent", "no such file");
  ExpectRefused("sub", "a folder, not a file");
}

TEST_F(ExternalData, IsNamedAsTheModelIs) {
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "models");
  EXPECT_EQ(OpenExternal("model.onnx", "absent").status().message(), "`absent`: no such file");
  EXPECT_TRUE(OpenExternal("model.onnx", "weights").ok());
  fs::current_path(before);
  EXPECT_EQ(OpenExternal((root_ / "models/model.onnx").string(), "absent").status().message(),
            "`" + (root_ / "models/absent").string() + "`: no such file");
}

TEST_F(ExternalData, NeverFollowsLinks) {
  fs::create_symlink(root_ / "secret", root_ / "models/link");
  fs::create_directory_symlink(root_, root_ / "models/up");
  fs::create_hard_link(root_ / "secret", root_ / "models/hard");
  ExpectRefused("link", "leads through a symbolic link");
  ExpectRefused("up/secret", "leads through a symbolic link");
  ExpectRefused("hard", "external data with 2 hard links");
}

TEST_F(ExternalData, MustLieWithinItsFile) {
  EXPECT_NE(Error({{"location", "weights"}, {"offset", "37"}}).find("from byte 37 on, 64 bytes, but `weights` has 100"), std::string::npos);
  EXPECT_NE(Error({{"location", "weights"}, {"offset", "18446744073709551615"}}).find("from byte 18446744073709551615 on"),
            std::string::npos);
  EXPECT_NE(Error({{"location", "weights"}, {"offset", "-1"}}).find("offset `-1`, wanted a number from 0"), std::string::npos);
  EXPECT_NE(Error({{"location", "weights"}, {"length", "-64"}}).find("length `-64`"), std::string::npos);
  EXPECT_NE(Error({{"location", "weights"}, {"length", "60"}}).find("60 bytes where 64 are needed"), std::string::npos);
  EXPECT_NE(Error({{"location", "weights"}, {"hook", "x"}}).find("unknown key `hook`"), std::string::npos);
  EXPECT_NE(Error({{"location", std::string("weights\0x", 9)}}).find("external data in `weights?x`, which is no name"), std::string::npos);
  EXPECT_NE(Error({{"location", "a\x1b[31mred"}}).find("external data in `a?[31mred`, which is no name"), std::string::npos);
}

TEST_F(ExternalData, AFileThatShrinksIsAnErrorNotACrash) {
  const auto model = Read({{"location", "weights"}});
  ASSERT_TRUE(model.ok());
  fs::resize_file(root_ / "models/weights", 10);
  std::vector<uint8_t> elements(64);
  EXPECT_NE(ReadElements(*model, model->graph.weight(0), elements).message().find("it became shorter while it was read"),
            std::string::npos);
}

}  // namespace
}  // namespace wf::onnx
