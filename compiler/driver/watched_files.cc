#include "compiler/driver/watched_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>

namespace wf::driver {
namespace {

constexpr size_t kMaxInFolder = 1000;

uint64_t Mix(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

uint64_t StampOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return 0;
  uint64_t stamp = 1;
  for (const int64_t part : {static_cast<int64_t>(info.st_mode), static_cast<int64_t>(info.st_size), static_cast<int64_t>(info.st_ino),
                             static_cast<int64_t>(info.st_mtim.tv_sec), static_cast<int64_t>(info.st_mtim.tv_nsec)}) {
    stamp = Mix(stamp, static_cast<uint64_t>(part));
  }
  if (!S_ISDIR(info.st_mode)) return stamp;
  uint64_t inside = 0;  // a sum: folders are listed in any order
  size_t left = kMaxInFolder;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(path, error), end; !error && at != end && left > 0; at.increment(error), --left) {
    if (!at->is_directory(error)) inside += Mix(StampOf(at->path().string()), std::hash<std::string>{}(at->path().string()));
  }
  return Mix(stamp, inside);
}

}  // namespace

void WatchedFiles::Begin() {
  LookAgain();
  before_ = std::move(stamps_);
  stamps_.clear();
}

// What stands there now may already be newer than what was read.
void WatchedFiles::Add(const std::string& path) {
  if (stamps_.contains(path)) return;
  const auto known = before_.find(path);
  stamps_.emplace(path, known != before_.end() ? known->second : StampOf(path));
}

void WatchedFiles::KeepAll() { stamps_.merge(before_); }

void WatchedFiles::LookAgain() {
  for (auto& [path, stamp] : stamps_) stamp = StampOf(path);
}

bool WatchedFiles::Changed() const {
  return std::any_of(stamps_.begin(), stamps_.end(), [](const auto& file) { return StampOf(file.first) != file.second; });
}

}  // namespace wf::driver
