#include "compiler/link/link.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <deque>
#include <fstream>
#include <string_view>
#include <vector>

#include "compiler/base/ending.h"
#include "compiler/base/partial_file.h"
#include "compiler/link/lld.h"
#include "runtime/base/system_error.h"

namespace wf::link {
namespace {

// The output cannot be written: told apart from a runtime archive that is missing.
base::Status Unwritable(const base::Status& status) {
  return {status.code() == base::kResourceExhausted ? base::kResourceExhausted : base::kPermissionDenied, status.message()};
}

// A file in memory that has a path while this lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("plan.o", MFD_CLOEXEC)) {
    while (fd_ >= 0 && !bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n <= 0) break;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    if (fd_ < 0 || !bytes.empty()) error_ = errno != 0 ? errno : EIO;
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int error() const { return error_; }  // 0: it is whole
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  int error_ = 0;
};

// Lines of wf_link.txt as arguments; `@object@` and `@dir@` replaced.
base::Result<std::vector<std::string>> ReadPieces(const std::string& dir, const std::vector<std::string>& objects) {
  const std::string list = dir + "/wf_link.txt";
  errno = 0;
  std::ifstream file(list);
  if (!file && errno != 0 && errno != ENOENT) return base::Status(base::kNotFound, "`" + list + "`: " + base::TextOfErrno(errno));
  if (!file) return base::Status(base::kNotFound, "`" + list + "` is missing: no runtime was built for this compiler");
  std::vector<std::string> pieces;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (const size_t at = line.find("@dir@"); at != std::string::npos) line.replace(at, 5, dir);
    if (line == "@object@") {
      pieces.insert(pieces.end(), objects.begin(), objects.end());
    } else {
      pieces.push_back(line);
    }
  }
  return pieces;
}

// What the linker says of its own output is a failure to write, not to link; the system's reason stands behind the path, which may be in
// quotes. Empty: something else.
std::string WriteFailure(const std::string& words, const std::string& path) {
  constexpr std::string_view kWriting = "IO failure on output stream";
  size_t at = words.find(kWriting);
  if (at != std::string::npos) {
    at += kWriting.size();
  } else if (at = words.find(path); at != std::string::npos) {
    at += path.size();
    if (at < words.size() && words[at] == '\'') ++at;
  }
  if (at == std::string::npos || words.compare(at, 2, ": ") != 0) return "";
  std::string reason = words.substr(at + 2, words.find('\n', at) - at - 2);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return reason;
}

}  // namespace

base::Status Link(const std::vector<std::string>& plan, const Options& options) {
  std::deque<MemoryFile> files;
  std::vector<std::string> objects;
  for (const std::string& object : plan) {
    const MemoryFile& file = files.emplace_back(object);
    if (file.error() != 0) return {base::kResourceExhausted, "no place for an object file: " + base::TextOfErrno(file.error())};
    objects.push_back(file.path());
  }
  objects.insert(objects.end(), options.objects.begin(), options.objects.end());
  const auto pieces = ReadPieces(options.runtime_dir.empty() ? FindRuntime() : options.runtime_dir, objects);
  if (!pieces.ok()) return pieces.status();
  source::PartialFile partial(options.output);
  if (const base::Status status = partial.Create(0755); !status.ok()) return Unwritable(status);
  std::vector<std::string> arguments{"-pie",
                                     "-z",
                                     "relro",
                                     "-z",
                                     "now",
                                     "-z",
                                     "noexecstack",
                                     "-z",
                                     "pack-relative-relocs",
                                     "--gc-sections",
                                     "--hash-style=gnu",
                                     "--eh-frame-hdr",
                                     "--build-id=sha1",
                                     "--no-dependent-libraries",
                                     "--threads=1",
                                     "--no-mmap-output-file",  // a full disk is an error there, not a signal
                                     "-o",
                                     partial.path()};
  if (options.strip) arguments.emplace_back("--strip-all");
  arguments.insert(arguments.end(), pieces->begin(), pieces->end());
  const source::EndingsHeld held;  // the linker brings handlers of its own
  if (base::Status status = RunLld(arguments); !status.ok()) {
    std::string reason = WriteFailure(status.message(), partial.path());
    return reason.empty() ? status : base::Status(base::kResourceExhausted, std::move(reason));
  }
  const base::Status placed = partial.file().TakePlace({});
  return placed.ok() ? placed : Unwritable(placed);
}

}  // namespace wf::link
