#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

inline constexpr const char* kNestingLimit =
    "400 levels of expressions; functions that are called and values that a `let` names count, too";

// What the bodies of one program share while they are built. Internal to BuildIr.
struct BuildContext {
  // A function or a workflow that is written out where it is called.
  struct Call {
    const Span* span;
    const std::string* name;
  };
  const Program& program;
  ir::Program& out;
  const source::SourceMap* sources = nullptr;   // null: lines are 0
  source::FileId root = source::FileId::kNone;  // the file whose lines count
  size_t ops_left = 250'000;                    // of the whole program
  size_t visits_left = 2'000'000;               // of expressions, many of which become no operation: time, not size
  std::vector<Call> calls = {};                 // that are being written out, the outermost first
  bool writes_calls = false;                    // some function or workflow was written out
  const Span* too_large = nullptr;              // where the limit was met, and
  std::vector<Call> calls_there = {};           // inside of what
  const char* limit = "250000 operations; functions are written out where they are called";
  void StopAt(const Span& span);
  uint32_t LineOf(const Span& span) const;  // 0 for other files
  bool misses_body = false;                 // of a function, which has been reported: only where a constant is computed
  uint32_t annotations = 0;                 // built so far
  std::vector<int64_t> constants = {};      // Program::consts to ir constants, -1 not yet
  std::map<std::string, int> paths = {};    // of nodes: how many ask for each
  std::map<std::pair<ExprKind, uint32_t>, uint32_t> stubs = {};  // of a test: what is called to the functions called instead
  std::map<std::string, std::string> metadata = {};              // of a test
};

}  // namespace wf::sema
