#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "runtime/base/system_error.h"
#include "runtime/onnx/reader.h"

namespace wf::onnx {
namespace {

// The number that a folder's name is, plain decimal from 0; -1 where it is too large. False: not a number.
bool ParseVersion(const char* name, int64_t& version) {
  const char* end = name + std::strlen(name);
  const auto [at, error] = std::from_chars(name, end, version);
  if (error == std::errc::result_out_of_range) version = -1;
  return error != std::errc::invalid_argument && at == end && name[0] != '-';
}

}  // namespace

base::Result<std::vector<VersionFile>> FindVersions(const std::string& path, std::vector<std::string>* skipped) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return base::Status(absent ? base::kNotFound : base::kUnavailable,
                        fmt::format("`{}`: {}", path, absent ? "no such file or folder" : base::TextOfErrno(errno)));
  }
  if (!S_ISDIR(info.st_mode)) return std::vector<VersionFile>{{1, path}};
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (folder == nullptr) return base::Status(base::kPermissionDenied, fmt::format("`{}`: {}", path, base::TextOfErrno(errno)));
  std::vector<VersionFile> versions;
  std::vector<std::string> odd;
  while (const dirent* entry = readdir(folder.get())) {
    int64_t version = 0;
    if (!ParseVersion(entry->d_name, version)) continue;
    const std::string file = fmt::format("{}/{}/model.onnx", path, entry->d_name);
    const bool has_file = stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    if (has_file && version >= 0)
      versions.push_back({version, file});
    else
      odd.push_back(fmt::format("`{}/{}`: {}", path, entry->d_name,
                                has_file                          ? "its number is above 2^63 - 1"
                                : lstat(file.c_str(), &info) == 0 ? "its model.onnx is no file"
                                                                  : "no file model.onnx in it"));
  }
  if (skipped != nullptr) *skipped = odd;
  if (versions.empty()) {
    return base::Status(base::kNotFound, fmt::format("`{}`: no numbered version with a model.onnx, such as `1/model.onnx`{}{}", path,
                                                     odd.empty() ? "" : "; ", odd.empty() ? "" : odd.front()));
  }
  std::sort(versions.begin(), versions.end(), [](const VersionFile& a, const VersionFile& b) { return a.version < b.version; });
  for (size_t i = 1; i < versions.size(); ++i) {  // 1 and 01
    if (versions[i].version == versions[i - 1].version) {
      return base::Status(base::kInvalidArgument,
                          fmt::format("`{}` and `{}` are the same version", versions[i - 1].path, versions[i].path));
    }
  }
  return versions;
}

}  // namespace wf::onnx
