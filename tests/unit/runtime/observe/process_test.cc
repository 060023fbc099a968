#include "runtime/observe/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

namespace wf::observe {
namespace {

double ValueOf(const std::string& page, const std::string& name) {
  const size_t at = page.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
}

std::string Page() {
  MetricsText text;
  AddProcess(&text);
  return text.text();
}

TEST(Process, TellsItsMemoryTimeAndStart) {
  const std::string page = Page();
  EXPECT_GT(ValueOf(page, "process_resident_memory_bytes"), 1e5) << page;
  EXPECT_GT(ValueOf(page, "process_virtual_memory_bytes"), ValueOf(page, "process_resident_memory_bytes")) << page;
  EXPECT_GE(ValueOf(page, "process_cpu_seconds_total"), 0) << page;
  EXPECT_NEAR(ValueOf(page, "process_start_time_seconds"), static_cast<double>(std::time(nullptr)), 600) << page;
  EXPECT_GT(ValueOf(page, "process_max_fds"), 2) << page;
}

TEST(Process, CountsOpenDescriptors) {
  const double before = ValueOf(Page(), "process_open_fds");
  const int fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(ValueOf(Page(), "process_open_fds"), before + 1);
  close(fd);
  EXPECT_EQ(ValueOf(Page(), "process_open_fds"), before);
}

}  // namespace
}  // namespace wf::observe
