#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/verify.h"
#include "compiler/parse/parse.h"
#include "compiler/passes/passes.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"
#include "tests/fuzz/forms/writer.h"

namespace {

constexpr int kCalls = 3;

wf::ir::Value Number(int64_t value) {
  wf::ir::Value number;
  number.bits = static_cast<uint64_t>(value);
  return number;
}

// How each of some calls ends, as text.
std::vector<std::string> Endings(const wf::ir::Program& program) {
  std::vector<std::string> endings;
  for (int call = 0; call < kCalls; ++call) {
    std::vector<wf::ir::Value> xs;
    for (int i = 0; i < call; ++i) xs.push_back(Number(i));
    wf::ir::Value optional, list;
    if (call == 2) optional.items = std::make_shared<const std::vector<wf::ir::Value>>(1, Number(4));
    list.items = std::make_shared<const std::vector<wf::ir::Value>>(std::move(xs));
    wf::ir::Interpreter interpreter(program, {}, {.max_steps = 100'000, .max_bytes = 1 << 24});
    const auto reply = interpreter.RunWorkflow(0, {Number(call % 2), optional, Number(call), list});
    if (interpreter.is_spent()) return {};
    if (reply.failure) {
      endings.push_back(std::to_string(reply.failure->code) + " " + reply.failure->message);
    } else {
      endings.push_back(std::to_string(static_cast<int64_t>((*reply.outputs)[0].bits)));
    }
  }
  return endings;
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 12;
  if (size > kMaxBytes) return 0;
  static const std::string library =
      "/// Forms.\n"
      "fn same<T>(x: T) -> T = x;\n"
      "fn one_of<T>(c: bool, x: T, y: T) -> T = if c { x } else { y };\n"
      "fn first<T>(xs: list<T>, y: T) -> T = if len(xs) > 0 { xs[0] } else { y };\n"
      "fn given<T>(x: T?, y: T) -> T = x ?? y;\n";
  const std::string text = wf::fuzz::WriteProgram({data, size});
  wf::source::SourceMap sources;
  wf::diag::Emitter emitter;
  const auto file = wf::parse::Parse(sources.Add("fuzz.wf", text), sources, emitter);
  const auto std = wf::parse::Parse(sources.Add("forms.wf", library), sources, emitter);
  WF_CHECK(file && std && !emitter.has_errors(), text);
  const auto checked = wf::sema::Check({{{"", &*file}, {"std.forms", &*std}}, sources, {}}, emitter);
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
  const std::vector<std::string> before = Endings(*program);
  wf::passes::Run(*program, verify);
  const std::vector<std::string> after = Endings(*program);
  for (size_t i = 0; i < before.size() && i < after.size(); ++i) WF_CHECK(before[i] == after[i], before[i], after[i], text);
  return 0;
}
