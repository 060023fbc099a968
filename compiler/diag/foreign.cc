#include "compiler/diag/foreign.h"

#include <algorithm>
#include <iterator>

namespace wf::diag {
namespace {

struct ForeignRow {
  Foreign kind;
  std::string_view word, ours;
};
constexpr ForeignRow kForeignRows[] = {
#define FOREIGN(kind, word, ours) {Foreign::kind, word, ours},
#include "compiler/diag/foreign.def"
#undef FOREIGN
};

const ForeignRow* FindForeign(Foreign kind, std::string_view word) {
  const auto* const end = std::end(kForeignRows);
  const auto* const at =
      std::find_if(std::begin(kForeignRows), end, [&](const ForeignRow& row) { return row.kind == kind && row.word == word; });
  return at == end ? nullptr : at;
}

}  // namespace

bool IsForeign(Foreign kind, std::string_view word) { return FindForeign(kind, word) != nullptr; }

std::string_view OursFor(Foreign kind, std::string_view word) {
  const ForeignRow* const row = FindForeign(kind, word);
  return row == nullptr ? std::string_view() : row->ours;
}

}  // namespace wf::diag
