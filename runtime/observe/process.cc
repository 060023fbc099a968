#include "runtime/observe/process.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include "runtime/base/units.h"

namespace wf::observe {
namespace {

struct File {
  explicit File(const char* path) : file(std::fopen(path, "r")) {}
  ~File() {
    if (file != nullptr) std::fclose(file);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* const file;
};

void AddMemory(MetricsText* out) {
  const File statm("/proc/self/statm");
  unsigned long whole = 0, resident = 0;
  if (statm.file == nullptr || std::fscanf(statm.file, "%lu %lu", &whole, &resident) != 2) return;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  out->Family("process_resident_memory_bytes", "gauge", "Resident memory.");
  out->Sample({}, static_cast<double>(resident) * page);
  out->Family("process_virtual_memory_bytes", "gauge", "Mapped memory.");
  out->Sample({}, static_cast<double>(whole) * page);
}

// Seconds since the epoch; 0: not told.
double StartTime() {
  const File stat("/proc/self/stat");
  char text[1024];
  const size_t size = stat.file == nullptr ? 0 : std::fread(text, 1, sizeof text - 1, stat.file);
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');  // the name before it may hold anything
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  unsigned long long ticks = 0;
  if (at == nullptr || std::sscanf(at, "%llu", &ticks) != 1) return 0;
  timespec now{}, up{};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  const int64_t since_boot_ns = static_cast<int64_t>(ticks) * (base::kNsPerSecond / sysconf(_SC_CLK_TCK));
  return base::Seconds((now.tv_sec - up.tv_sec) * base::kNsPerSecond + now.tv_nsec - up.tv_nsec + since_boot_ns);
}

void AddDescriptors(MetricsText* out) {
  if (DIR* const folder = opendir("/proc/self/fd"); folder != nullptr) {
    int count = -3;  // ".", ".." and the folder itself
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    out->Family("process_open_fds", "gauge", "Open descriptors.");
    out->Sample({}, count);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  out->Family("process_max_fds", "gauge", "Descriptors that may be open.");
  out->Sample({}, static_cast<double>(limit.rlim_cur));
}

}  // namespace

void AddProcess(MetricsText* out) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) { return t.tv_sec * base::kNsPerSecond + t.tv_usec * 1000; };
  out->Family("process_cpu_seconds_total", "counter", "User and system time.");
  out->Sample({}, base::Seconds(ns(usage.ru_utime) + ns(usage.ru_stime)));
  AddMemory(out);
  AddDescriptors(out);
  if (const double started = StartTime(); started > 0) {
    out->Family("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.");
    out->Sample({}, started);
  }
}

}  // namespace wf::observe
