#include "compiler/link/symbols.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace wf::link {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

TEST(Symbols, AreWrittenAsInCpp) {
  const auto symbols = ReadSymbols("/proc/self/exe");
  ASSERT_TRUE(symbols.ok()) << symbols.status().message();
  EXPECT_THAT(symbols->defined, Contains(StartsWith("wf::link::ReadSymbols(")));
  EXPECT_THAT(symbols->missing, Not(Contains(StartsWith("wf::"))));
}

TEST(Symbols, AreInObjectFilesOnly) {
  const std::string path = testing::TempDir() + "/no_object.o";
  std::ofstream(path) << "no object";
  EXPECT_FALSE(ReadSymbols(path).ok());
  std::filesystem::remove(path);
  EXPECT_FALSE(ReadSymbols(path).ok());
}

}  // namespace
}  // namespace wf::link
