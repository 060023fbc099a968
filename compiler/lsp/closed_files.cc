#include "compiler/lsp/closed_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "runtime/base/units.h"

namespace wf::lsp {
namespace {

constexpr int64_t kClockStepNs = 20'000'000;  // of the times that a file system gives: what was written within one may look unchanged

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<ClosedFiles::Stamp> ClosedFiles::StampOf(const std::string& name) {
  struct stat info{};
  if (stat(name.c_str(), &info) != 0) return std::nullopt;
  return Stamp{info.st_ctim.tv_sec * base::kNsPerSecond + info.st_ctim.tv_nsec, static_cast<uint64_t>(info.st_size), info.st_ino};
}

// Nothing: one of them was lacking, or may have changed meanwhile.
std::optional<std::vector<ClosedFiles::Read>> ClosedFiles::ReadsOf(const Analysis& analysis, const OpenText& open, int64_t start_ns) {
  const auto& modules = analysis.modules();
  if (std::any_of(modules.begin(), modules.end(), [](const LoadedModule& module) { return !module.file; })) return std::nullopt;
  std::vector<Read> reads;
  for (size_t i = 0; i < analysis.sources().size(); ++i) {
    const auto id = static_cast<source::FileId>(i);
    reads.push_back({.name = std::string(analysis.sources().name(id)), .text = id, .is_open = false, .stamp = {}});
  }
  for (const std::string& name : analysis.embedded()) reads.push_back({.name = name, .text = {}, .is_open = false, .stamp = {}});
  for (Read& read : reads) {
    read.is_open = read.text && open(read.name) != nullptr;
    if (!read.is_open) read.stamp = StampOf(read.name);
    if (read.stamp && read.stamp->changed_ns + kClockStepNs > start_ns) return std::nullopt;
  }
  return reads;
}

bool ClosedFiles::Holds(const Kept& kept, const OpenText& open) {
  return std::all_of(kept.reads.begin(), kept.reads.end(), [&](const Read& read) {
    const std::string* text = read.text ? open(read.name) : nullptr;
    if (read.is_open != (text != nullptr)) return false;
    return text != nullptr ? *text == kept.analysis->sources().text(*read.text) : StampOf(read.name) == read.stamp;
  });
}

std::shared_ptr<const Analysis> ClosedFiles::Find(const std::string& path, const OpenText& open, const Make& make) {
  const auto known = kept_.find(path);
  if (known != kept_.end()) {
    if (Holds(known->second, open)) return known->second.analysis;
    kept_.erase(known);
  }
  const int64_t start_ns = NowNs();
  std::shared_ptr<const Analysis> analysis = make();
  if (kept_.size() < kMost) {
    if (auto reads = ReadsOf(*analysis, open, start_ns)) kept_[path] = {analysis, *std::move(reads)};
  }
  return analysis;
}

}  // namespace wf::lsp
