#include "compiler/base/memory_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <iterator>

namespace wf::source {
namespace {

TEST(MemoryFile, HoldsWhatIsAppendedUnderItsPathWhileItLives) {
  std::string path;
  {
    const MemoryFile file("piece");
    ASSERT_TRUE(file.Append("first ").ok());
    ASSERT_TRUE(file.Append("").ok());
    ASSERT_TRUE(file.Append(std::string(300000, 'x')).ok());
    path = file.path();
    std::ifstream in(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "first " + std::string(300000, 'x'));
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(MemoryFile, SaysWhyItHoldsNothingWhereThereIsNoDescriptor) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const MemoryFile file("piece");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  const base::Status status = file.Append("lost");
  EXPECT_EQ(status.code(), base::kResourceExhausted);
  EXPECT_EQ(status.message(), "too many open files");
}

}  // namespace
}  // namespace wf::source
