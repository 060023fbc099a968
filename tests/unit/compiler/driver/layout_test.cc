#include "compiler/driver/layout.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

class LayoutTest : public ::testing::Test {
 protected:
  std::string Make(const std::string& name) {
    const std::filesystem::path path = std::filesystem::canonical(folder_.path()) / name;
    std::filesystem::create_directories(path);
    return path.string() + "/";
  }
  TemporaryFolder folder_;
};

TEST_F(LayoutTest, ACopiedTreeReadsItsOwn) {
  const std::string stdlib = Make("tree/stdlib"), errors = Make("tree/docs/errors");
  const std::string executable = Make("tree/build/dev/bin") + "wfc";
  EXPECT_EQ(StdlibFolder(executable), stdlib);
  EXPECT_EQ(ErrorPagesFolder(executable), errors);
}

TEST_F(LayoutTest, AnInstallationReadsWhatLiesBesideIt) {
  const std::string stdlib = Make("usr/share/wf/stdlib"), errors = Make("usr/share/wf/errors");
  const std::string executable = Make("usr/bin") + "wfc";
  EXPECT_EQ(StdlibFolder(executable), stdlib);
  EXPECT_EQ(ErrorPagesFolder(executable), errors);
}

}  // namespace
}  // namespace wf::driver
