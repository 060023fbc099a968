#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace wf::driver {

// What files and folders looked like when they were read, and whether they still do.
class WatchedFiles {
 public:
  void Add(const std::string& path);  // before it is read; the first look counts
  bool Changed() const;
  void LookAgain();  // they look as they do now

 private:
  std::map<std::string, uint64_t> stamps_;  // of size, time, permissions and place on the disk; of a folder: of all that is in it
};

}  // namespace wf::driver
