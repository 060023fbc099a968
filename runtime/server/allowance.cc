#include "runtime/server/allowance.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace wf::server {
namespace {

// The numbers that a file begins with; `max` and nothing at all are none.
int ReadNumbers(const std::string& path, double (&numbers)[2]) {
  std::ifstream file(path);
  int count = 0;
  while (count < 2 && file >> numbers[count]) ++count;
  return count;
}

void TakeMemory(const std::string& path, Allowance* out) {
  constexpr double kNoLimit = 1e18;  // version 1 says so with a number near the largest
  double bytes[2];
  if (ReadNumbers(path, bytes) > 0 && bytes[0] < kNoLimit) out->memory_bytes = std::min(out->memory_bytes, static_cast<int64_t>(bytes[0]));
}

void TakeCpus(double quota, double period, Allowance* out) {
  if (quota > 0 && period > 0) out->cpus = std::min(out->cpus, quota / period);
}

void TakeVersion2(const std::string& folder, Allowance* out) {
  TakeMemory(folder + "/memory.max", out);
  double cpu[2];
  if (ReadNumbers(folder + "/cpu.max", cpu) == 2) TakeCpus(cpu[0], cpu[1], out);
}

void TakeVersion1(const std::string& folder, Allowance* out) {
  TakeMemory(folder + "/memory.limit_in_bytes", out);
  double quota[2], period[2];
  if (ReadNumbers(folder + "/cpu.cfs_quota_us", quota) > 0 && ReadNumbers(folder + "/cpu.cfs_period_us", period) > 0)
    TakeCpus(quota[0], period[0], out);
}

// From the process's own folder up to the mount. A container may see only the mount, under a path that it does not have.
template <typename Take>
void ForEachFolder(const std::string& mount, std::string path, Take&& take) {
  for (; path.size() > 1; path.resize(path.rfind('/'))) take(mount + path);
  take(mount);
}

bool Lists(std::string_view controllers, std::string_view wanted) {
  return ("," + std::string(controllers) + ",").find("," + std::string(wanted) + ",") != std::string::npos;
}

}  // namespace

// A line is `0::/path` in version 2, `4:cpu,cpuacct:/path` in version 1.
Allowance ReadAllowance(const std::string& root) {
  Allowance allowance;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (path.empty() || path.front() != '/') continue;
    if (controllers.empty()) ForEachFolder(mount, path, [&](const std::string& folder) { TakeVersion2(folder, &allowance); });
    for (const std::string_view controller : {"memory", "cpu"}) {
      if (!Lists(controllers, controller)) continue;
      ForEachFolder(mount + "/" + std::string(controller), path, [&](const std::string& folder) { TakeVersion1(folder, &allowance); });
    }
  }
  return allowance;
}

}  // namespace wf::server
