#include <cstdint>
#include <string>

#include "compiler/ir/verify.h"
#include "compiler/parse/parse.h"
#include "compiler/passes/passes.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"
#include "tests/diff/forms.h"

namespace {

// Of the library, what the programs use.
constexpr const char* kLists = R"(
/// .
fn take<T>(xs: list<T>, count: i64) -> list<T> = [x for i, x in enumerate(xs) if i < count];
/// .
fn reverse<T>(xs: list<T>) -> list<T> {
  let places: i64[_] = [i < len(xs)] => len(xs) - 1 - i;
  [xs[i] for i in places]
}
/// .
fn concat<T>(a: list<T>, b: list<T>) -> list<T> {
  let places: i64[_] = [i < len(a) + len(b)] => i;
  [if i < len(a) { a[i] } else { b[i - len(a)] } for i in places]
}
/// .
fn fill<T>(x: T, count: i64) -> list<T> {
  let places: i64[_] = [i < max(count, 0)] => i;
  [x for _i in places]
}
)";
constexpr const char* kTensor = R"(
/// .
fn transpose<T>(x: T[m, n]) -> T[n, m] = [i, j] => x[j, i];
/// .
fn flip<T>(x: T[n, *s]) -> T[n, *s] = [i] => x[n - 1 - i];
/// .
fn concat<T>(a: T[m, *s], b: T[n, *s]) -> T[m + n, *s] = [i] => if i < m { a[i] } else { b[i - m] };
)";

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 12;
  if (size > kMaxBytes) return 0;
  const std::string text = wf::diff::WriteForms({data, size}).declarations;
  wf::source::SourceMap sources;
  wf::diag::Emitter emitter;
  const auto parse = [&](const char* name, const std::string& file) { return wf::parse::Parse(sources.Add(name, file), sources, emitter); };
  const auto file = parse("forms.wf", text), lists = parse("lists.wf", kLists), tensor = parse("tensor.wf", kTensor);
  WF_CHECK(file && lists && tensor && !emitter.has_errors(), text);
  const auto checked = wf::sema::Check({{{"", &*file}, {"std.lists", &*lists}, {"std.tensor", &*tensor}}, sources, {}}, emitter);
  WF_CHECK(checked.has_value() || emitter.has_errors(), text);
  if (!checked || emitter.has_errors()) return 0;
  wf::sema::Print(*checked);
  auto program = wf::sema::BuildIr(*checked, sources, emitter);
  WF_CHECK(program.has_value() || emitter.has_errors(), text);
  if (!program) return 0;
  const auto verify = [&](std::string_view pass, const wf::ir::Program& changed) {
    const auto broken = wf::ir::Verify(changed);
    WF_CHECK(!broken, *broken, std::string(pass), text);
  };
  verify("build", *program);
  wf::passes::Run(*program, verify);
  return 0;
}
