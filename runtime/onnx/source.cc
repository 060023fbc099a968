#include "runtime/onnx/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::onnx {
namespace {

using base::Descriptor;
using base::Result;
using base::Status;

Status ErrnoStatus(int error, const std::string& name) {
  return Status(base::CodeOfErrno(error), fmt::format("`{}`: {}", name, base::TextOfErrno(error)));
}

class FileSource final : public ByteSource {
 public:
  FileSource(Descriptor fd, uint64_t size, std::string name) : fd_(std::move(fd)), size_(size), name_(std::move(name)) {}
  uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }
  Status Read(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(base::kInvalidArgument, fmt::format("`{}`: a read beyond its end", name_));
    while (!out.empty()) {
      const ssize_t got = pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus(errno, name_);
      if (got == 0) return Status(base::kInvalidArgument, fmt::format("`{}`: it became shorter while it was read", name_));
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return Status::Ok();
  }

 private:
  const Descriptor fd_;
  const uint64_t size_;
  const std::string name_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const uint8_t> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  uint64_t size() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }
  Status Read(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return Status(base::kInvalidArgument, fmt::format("`{}`: a read beyond its end", name_));
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return Status::Ok();
  }

 private:
  const std::span<const uint8_t> bytes_;
  const std::string name_;
};

Result<std::shared_ptr<const ByteSource>> SourceOf(Descriptor fd, const std::string& name, bool one_link) {
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(info.st_mode)) {
    return Status(base::kInvalidArgument,
                  fmt::format("`{}`: {}, not a file", name, S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe"));
  }
  if (one_link && info.st_nlink != 1) {
    return Status(base::kPermissionDenied, fmt::format("`{}`: external data with {} hard links", name, info.st_nlink));
  }
  return std::shared_ptr<const ByteSource>(std::make_shared<FileSource>(std::move(fd), static_cast<uint64_t>(info.st_size), name));
}

}  // namespace

Result<std::shared_ptr<const ByteSource>> OpenFile(const std::string& path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not block us before it is refused
  if (fd.get() < 0) return ErrnoStatus(errno, path);
  return SourceOf(std::move(fd), path, false);
}

Result<std::shared_ptr<const ByteSource>> OpenExternal(const std::string& model_path, const std::string& location) {
  const size_t slash = model_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : model_path.substr(0, slash + 1);
  const auto refused = [&](const char* why) {
    return Status(base::kPermissionDenied, fmt::format("external data at `{}` {}", location, why));
  };
  if (location.empty() || location.size() > 4096 || location.find('\0') != std::string::npos) return refused("has no usable name");
  if (location[0] == '/') return refused("is an absolute path; it must lie in the model's folder");
  Descriptor at(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return ErrnoStatus(errno, folder);
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string part = location.substr(begin, end - begin);
    const bool last = end == location.size();
    if (part == "..") return refused("leaves the model's folder");
    if (part.empty() || part == ".") {
      if (last) return refused("has no usable name");
    } else {
      Descriptor next(openat(at.get(), part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (last ? 0 : O_DIRECTORY)));
      if (next.get() < 0) {  // a link to a folder gives ENOTDIR, one to a file ELOOP
        struct stat info{};
        if (fstatat(at.get(), part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
          return refused("leads through a symbolic link");
        return ErrnoStatus(errno == ELOOP ? ENOENT : errno, folder + location);
      }
      at = std::move(next);
    }
    begin = end + 1;
  }
  return SourceOf(std::move(at), folder + location, true);
}

std::shared_ptr<const ByteSource> BytesOf(std::span<const uint8_t> bytes, std::string name) {
  return std::make_shared<MemorySource>(bytes, std::move(name));
}

}  // namespace wf::onnx
