#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lsp/analysis.h"

namespace wf::lsp {

// Analyses of files that no editor has open, for as long as nothing that they read is another.
// Owns: the analyses.   Thread: one.   Bounds: kMost of them; the first ones stay, so that going round more files than that finds some.
// Cost: a look at each file that an analysis read.
class ClosedFiles {
 public:
  static constexpr size_t kMost = 64;
  using OpenText = std::function<const std::string*(const std::string& name)>;  // null: no editor has it open
  using Make = std::function<std::unique_ptr<Analysis>()>;

  std::shared_ptr<const Analysis> Find(const std::string& path, const OpenText& open, const Make& make);
  void Clear() { kept_.clear(); }

 private:
  struct Stamp {
    int64_t changed_ns = 0;
    uint64_t bytes = 0, number = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Read {
    std::string name;
    std::optional<source::FileId> text;  // of a file of the program
    bool is_open = false;
    std::optional<Stamp> stamp;  // nothing: it is not there
  };
  struct Kept {
    std::shared_ptr<const Analysis> analysis;
    std::vector<Read> reads;
  };
  static std::optional<Stamp> StampOf(const std::string& name);
  static std::optional<std::vector<Read>> ReadsOf(const Analysis& analysis, const OpenText& open, int64_t start_ns);
  static bool Holds(const Kept& kept, const OpenText& open);

  std::map<std::string, Kept> kept_;  // by path
};

}  // namespace wf::lsp
