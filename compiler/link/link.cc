#include "compiler/link/link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "compiler/link/lld.h"

namespace wf::link {
namespace {

base::Status FromErrno(int error) {
  const auto code = error == ENOSPC || error == EDQUOT ? base::kResourceExhausted : base::kPermissionDenied;
  return {code, std::strerror(error)};
}

// A file in memory that has a path while this lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const char> bytes) : fd_(memfd_create("plan.o", MFD_CLOEXEC)) {
    while (fd_ >= 0 && !bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n <= 0) break;
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
    is_whole_ = fd_ >= 0 && bytes.empty();
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  bool is_whole() const { return is_whole_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  bool is_whole_ = false;
};

// The output's neighbour while it is written; removed at the end of the scope unless it was renamed.
class PartialFile {
 public:
  explicit PartialFile(const std::string& output) : output_(output), path_(output + ".partial-" + std::to_string(getpid())) {}
  ~PartialFile() {
    if (!renamed_) unlink(path_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  const std::string& path() const { return path_; }

  base::Status Try() const {  // so that the reason is the system's and not the linker's
    struct stat info{};
    if (stat(output_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return FromErrno(EISDIR);
    const int fd = open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0) return FromErrno(errno);
    close(fd);
    return base::Status::Ok();
  }
  base::Status Rename() {
    if (rename(path_.c_str(), output_.c_str()) != 0) return FromErrno(errno);
    renamed_ = true;
    return base::Status::Ok();
  }

 private:
  std::string output_, path_;
  bool renamed_ = false;
};

// Lines of wf_link.txt as arguments; `@object@` and `@dir@` replaced.
base::Result<std::vector<std::string>> ReadPieces(const std::string& dir, const std::vector<std::string>& objects) {
  std::ifstream file(dir + "/wf_link.txt");
  if (!file) return base::Status(base::kNotFound, "`" + dir + "/wf_link.txt` is missing: no runtime was built for this compiler");
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

// lld says in words that the disk is full; the room that is left says it for sure.
bool DiskIsFull(const std::string& path) {
  std::error_code error;
  const auto space = std::filesystem::space(std::filesystem::absolute(path, error).parent_path(), error);
  return !error && space.available < (8u << 20);
}

// What the linker says of its own output is a failure to write, not to link; the system's reason stands behind the path. Empty: something
// else.
std::string WriteFailure(const std::string& words, const std::string& path) {
  const size_t at = words.find(path + ": ");
  if (at == std::string::npos) return DiskIsFull(path) ? std::strerror(ENOSPC) : "";
  const size_t reason = at + path.size() + 2;
  return words.substr(reason, words.find('\n', reason) - reason);
}

}  // namespace

base::Status Link(std::span<const char> object, const Options& options) {
  const MemoryFile plan(object);
  if (!plan.is_whole()) return {base::kResourceExhausted, "no memory for the object file"};
  std::vector<std::string> objects{plan.path()};
  objects.insert(objects.end(), options.objects.begin(), options.objects.end());
  const auto pieces = ReadPieces(options.runtime_dir.empty() ? FindRuntime() : options.runtime_dir, objects);
  if (!pieces.ok()) return pieces.status();
  PartialFile partial(options.output);
  WF_RETURN_IF_ERROR(partial.Try());
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
                                     "-o",
                                     partial.path()};
  if (options.strip) arguments.emplace_back("--strip-all");
  arguments.insert(arguments.end(), pieces->begin(), pieces->end());
  if (base::Status status = RunLld(arguments); !status.ok()) {
    std::string reason = WriteFailure(status.message(), partial.path());
    return reason.empty() ? status : base::Status(base::kResourceExhausted, std::move(reason));
  }
  return partial.Rename();
}

}  // namespace wf::link
