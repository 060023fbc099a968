#pragma once

#include <string>

namespace wf::source {

// A file, or a folder of files, that SIGINT, SIGTERM and SIGHUP remove where they would end the process, for as long as this lives.
// Thread: one at a time in a process.   Bounds: a few at once; longer paths than the system's are left alone.
class RemovedOnEnding {
 public:
  enum class Kind : bool { kFile, kFolder };
  RemovedOnEnding(const std::string& path, Kind kind);
  ~RemovedOnEnding();
  RemovedOnEnding(const RemovedOnEnding&) = delete;
  RemovedOnEnding& operator=(const RemovedOnEnding&) = delete;

 private:
  const int at_;
};

}  // namespace wf::source
