#include "runtime/base/error_codes.h"

namespace wf::base {
namespace {

struct Row {
  int32_t first, last;
  CodeInfo info;
};
constexpr Row kRows[] = {
#define CODE(first, last, constant, name, status, text) {first, last, {name, status}},
#include "runtime/base/error_codes.def"
};

}  // namespace

CodeInfo CodeInfoOf(int32_t code) {
  for (const Row& row : kRows) {
    if (code >= row.first && code <= row.last) return row.info;
  }
  return {"Unknown", kUnknown};
}

}  // namespace wf::base
