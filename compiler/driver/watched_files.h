#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace wf::driver {

// What files and folders looked like when they were read, and whether they still do.
class WatchedFiles {
 public:
  void Begin();                       // a new attempt, which reads what it reads; what is watched is looked at once more, and put aside
  void Add(const std::string& path);  // before it is read; the first look counts
  void KeepAll();                     // the attempt failed, and may not have come to all that it would have read
  bool Changed() const;
  void LookAgain();  // they look as they do now

 private:
  std::map<std::string, uint64_t> before_;  // as `stamps_`, of the attempt before
  std::map<std::string, uint64_t> stamps_;  // of size, time, permissions and place on the disk; of a folder: of all that is in it
};

}  // namespace wf::driver
