#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/ending.h"
#include "compiler/diag/emitter.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/path.h"
#include "runtime/base/status.h"

namespace wf::driver {

// The whole of a regular file. The message of a failure says why, without the name: "no such file", "larger than 16 MiB".
base::Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// The same of what is no file, such as stdin.
base::Result<std::string> ReadStream(std::istream& in, size_t max_bytes);

// Both names lead to one file, which may not be there yet.
bool IsSameFile(const std::string& a, const std::string& b);

// Whether `output` is one of the files that a program is made of, or another program: reported.
bool ReportInput(const std::string& output, const std::vector<std::string>& inputs, diag::Emitter& emitter);

// Writes the file whole or not at all: through a neighbour that takes its place and its permissions when complete. Links lead to it still;
// what is no file, as a pipe, is written to.
base::Status WriteFile(const std::string& path, std::string_view text);

// Whether WriteFile may write there, as far as that is known before: a full disk is not.
base::Status MayWrite(const std::string& path);

// Gives a file that people keep another text: links lead to it still, its permissions, owner, group and other names stay. It is on the disk
// when this returns, and whole or as it was where it has one name and who writes it may make another like it.
base::Status RewriteFile(const std::string& path, std::string_view text);

// Where a file that is going to be replaced by renaming really is: links followed. Errors: kPermissionDenied for what is there and is no
// regular file, which renaming would destroy.
base::Result<std::string> PlaceForProduct(const std::string& path);

using base::FolderOf;

// A folder of this process alone, removed with the files in it; also by signals that end wfc. One whose process was killed goes when the
// same user's next one is made beside it; so does, after a minute, an empty one of that form which nobody has locked.
// Errors: path() is empty when it could not be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  // ends with a slash
  const std::string& parent() const { return parent_; }
  const std::string& why() const { return why_; }  // it could not be made: "no such file"
  std::string WhyNone() const;                     // the same as a sentence

 private:
  std::string parent_, why_;
  std::string path_;
  base::Descriptor lock_{-1};  // held as long as this lives, whatever ends it
  std::optional<source::RemovedOnEnding> removed_;
};

}  // namespace wf::driver
