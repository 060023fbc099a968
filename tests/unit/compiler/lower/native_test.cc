#include "tests/unit/support/native.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

// A run that is killed would leave them.
TEST_F(BodyTest, AProgramThatIsLoadedHasNoFiles) {
  const std::filesystem::path folder = ::testing::TempDir() + "wf-native-test-" + std::to_string(getpid());
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", folder.c_str(), 1);
  cases_.Add("one", {I64()}, I64(), [](Builder&, const In& in) { return in[0]; });
  {
    const test::SharedObject shared(cases_.program, "generic");
    EXPECT_EQ(shared.path().find(folder.string() + "/"), 0U) << shared.path();
    const Loaded loaded(cases_.program, "generic");
    std::filesystem::remove(shared.path());
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    std::vector<ir::Value> inputs(cases_.program.slots.size());
    inputs[static_cast<size_t>(cases_.cases[0].in[0])] = ir::Value::Scalar(7);
    Job job;
    const ir::Outcome got = loaded.Run(cases_.cases[0].task, inputs, &job);
    EXPECT_TRUE(got.value && got.value->bits == 7);
  }
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace wf::lower::testing
