#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace wf::base {

// A file beside another whose place it takes once it is whole. Nobody knows its name before, and nothing that has the name already is
// written to, whatever link it is. Removed with this, unless it took the place.
// Thread: confined.   Errors: why it cannot be, without the path; kResourceExhausted: no room; kNotFound: no such folder.
class NewFile {
 public:
  static Result<NewFile> Beside(const std::string& target, mode_t mode);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  int fd() const { return file_.get(); }
  const std::string& path() const { return path_; }
  Status Write(std::string_view bytes);
  Status TakePlace(std::optional<mode_t> permissions);  // with these, else those that it was made with

 private:
  NewFile(std::string target, std::string path, Descriptor file);

  std::string target_, path_;  // an empty path: it is not to be removed
  Descriptor file_;
};

Status WriteAll(int file, std::string_view bytes);

}  // namespace wf::base
