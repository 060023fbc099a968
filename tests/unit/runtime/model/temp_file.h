#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/check.h"

namespace wf::testing {

// A file of its own for as long as it lives.
class TempFile {
 public:
  explicit TempFile(const std::vector<uint8_t>& bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "wf_model_XXXXXX").string();
    const int fd = mkstemp(pattern.data());
    WF_CHECK(fd >= 0);
    close(fd);
    path_ = pattern;
    std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace wf::testing
