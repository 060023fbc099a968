#include "runtime/server/allowance.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace wf::server {
namespace {

// A folder with the files of a made-up machine.
class AllowanceTest : public testing::Test {
 protected:
  AllowanceTest() : root_(testing::TempDir() + "wf-allowance-" + std::to_string(getpid())) {}
  ~AllowanceTest() override { std::filesystem::remove_all(root_); }
  Allowance Read(const std::vector<std::pair<std::string, std::string>>& files) {
    std::filesystem::remove_all(root_);
    for (const auto& [path, text] : files) {
      const std::filesystem::path file(root_ + "/" + path);
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
    return ReadAllowance(root_);
  }
  const std::string root_;
};

TEST_F(AllowanceTest, NoFilesAndNoLimitsAreNone) {
  const std::string largest = "9223372036854771712\n";
  for (const Allowance& allowance :
       {Read({}),
        Read({{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}, {"sys/fs/cgroup/a/memory.max", "max\n"}}),
        Read({{"proc/self/cgroup", "2:cpu:/\n3:memory:/\n"},
              {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
              {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
              {"sys/fs/cgroup/memory/memory.limit_in_bytes", largest}})}) {
    EXPECT_TRUE(std::isinf(allowance.cpus)) << allowance.cpus;
    EXPECT_EQ(allowance.memory_bytes, INT64_MAX);
  }
}

TEST_F(AllowanceTest, TheLeastOfItsOwnGroupAndThoseAroundItHolds) {
  const Allowance allowance = Read({{"proc/self/cgroup", "0::/user.slice/app.service\n"},
                                    {"sys/fs/cgroup/user.slice/app.service/cpu.max", "150000 100000\n"},
                                    {"sys/fs/cgroup/user.slice/app.service/memory.max", "500000000\n"},
                                    {"sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n"},
                                    {"sys/fs/cgroup/user.slice/memory.max", "300000000\n"},
                                    {"sys/fs/cgroup/other.slice/memory.max", "1000\n"}});
  EXPECT_EQ(allowance.cpus, 1.5);
  EXPECT_EQ(allowance.memory_bytes, 300'000'000);
}

TEST_F(AllowanceTest, AContainerThatSeesOnlyTheMountReadsThat) {
  const Allowance allowance = Read(
      {{"proc/self/cgroup", "0::/../../pod\n"}, {"sys/fs/cgroup/cpu.max", "50000 100000\n"}, {"sys/fs/cgroup/memory.max", "1000000\n"}});
  EXPECT_EQ(allowance.cpus, 0.5);
  EXPECT_EQ(allowance.memory_bytes, 1'000'000);
}

TEST_F(AllowanceTest, VersionOneHasAFolderForEachController) {
  const Allowance allowance =
      Read({{"proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n1:name=systemd:/docker/1\n"},
            {"sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "250000\n"},
            {"sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n"},
            {"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "200000000\n"},
            {"sys/fs/cgroup/memory/memory.limit_in_bytes", "900000000\n"}});
  EXPECT_EQ(allowance.cpus, 2.5);
  EXPECT_EQ(allowance.memory_bytes, 200'000'000);
}

}  // namespace
}  // namespace wf::server
