#include "compiler/driver/test_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "compiler/base/quote.h"
#include "compiler/diag/render.h"
#include "compiler/driver/json_cursor.h"
#include "compiler/ir/type.h"
#include "runtime/base/error_codes.h"

namespace wf::driver {
namespace {

using sema::Test;
using sema::TypeKind;

struct Failure {
  int32_t code = 0;  // 0: none
  std::string message, node;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// One side of a comparison for people, and its numbers.
struct Side {
  std::string text;
  std::vector<double> numbers;
};

struct Came {  // what a statement came to
  bool ok = false;
  Failure failure;
  Side left, right;
};

void AddNumber(std::string_view text, std::vector<double>& numbers) {
  double number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) numbers.push_back(number);
}

// Floats come as text, so that NaN and infinity can.
void ReadSide(JsonCursor& json, sema::TypeRef type, size_t rank, Side& side) {
  const auto items = [&](char open, char close, const auto& read) {
    json.Take(open);
    side.text += open;
    for (bool first = true; json.ok() && !json.Take(close); first = false) {
      if (!first) json.Take(',');
      if (!first) side.text += ", ";
      read();
    }
    side.text += close;
  };
  const bool number = type->kind == TypeKind::kScalar || (type->kind == TypeKind::kTensor && rank == 0);
  if (number) {
    const std::string text = ir::IsFloat(type->dtype) ? json.String() : std::string(json.Value());
    AddNumber(text, side.numbers);
    side.text += text;
  } else if (type->kind == TypeKind::kTensor) {
    items('[', ']', [&] { ReadSide(json, type, rank - 1, side); });
  } else if (type->kind == TypeKind::kList) {
    items('[', ']', [&] { ReadSide(json, type->element, type->element->dims.size(), side); });
  } else if (type->kind == TypeKind::kRecord) {
    size_t next = 0;
    items('{', '}', [&] {
      side.text += json.Key() + ": ";
      const sema::TypeRef field = type->fields[std::min(next++, type->fields.size() - 1)].type;
      ReadSide(json, field, field->dims.size(), side);
    });
  } else if (type->kind == TypeKind::kString) {
    side.text += source::Quote(json.String(), source::Braces::kDoubled);
  } else {
    side.text += source::SeenJson(json.Value());
  }
}

Side ReadSides(JsonCursor& json, sema::TypeRef type) {
  Side side;
  json.Key();
  json.Take('[');
  if (json.Take(']')) return side;
  ReadSide(json, type, type->dims.size(), side);
  json.Take(']');
  constexpr size_t kMaxShown = 500;
  if (side.text.size() > kMaxShown) {
    size_t end = kMaxShown;
    while (end > 0 && (static_cast<unsigned char>(side.text[end]) & 0xc0) == 0x80) --end;
    side.text = side.text.substr(0, end) + " ...";
  }
  return side;
}

Came ReadOne(JsonCursor& json, const Test::Outcome& outcome) {
  Came came;
  json.Key();
  json.Take('{');
  json.Key();
  came.ok = json.Value() == "true";
  json.Take(',');
  json.Key();
  const std::string_view code = json.Value();
  std::from_chars(code.data(), code.data() + code.size(), came.failure.code);
  json.Take(',');
  json.Key();
  came.failure.message = json.String();
  json.Take(',');
  json.Key();
  came.failure.node = json.String();
  if (outcome.side != nullptr) {
    json.Take(',');
    came.left = ReadSides(json, outcome.side);
    json.Take(',');
    came.right = ReadSides(json, outcome.side);
  }
  json.Take('}');
  json.Take(',');
  return came;
}

// "100001 NotAnImage: the body is .., in `r/Classify/pixels`"
std::string TextOf(const sema::Program& program, const Failure& failure) {
  const auto declared =
      std::find_if(program.errors.begin(), program.errors.end(), [&](const sema::ErrorCode& error) { return error.code == failure.code; });
  std::string text = std::to_string(failure.code);
  if (declared != program.errors.end()) text += " " + declared->name;
  if (!failure.message.empty()) text += ": " + failure.message;
  if (!failure.node.empty()) text += ", in `" + failure.node + "`";
  return text;
}

diag::Notes NotesOf(const Test::Outcome& outcome, const Came& came) {
  diag::Notes notes;
  if (outcome.side == nullptr || came.failure.code != 0) return notes;
  notes.emplace_back("left", came.left.text);
  notes.emplace_back("right", came.right.text);
  const auto &a = came.left.numbers, &b = came.right.numbers;
  if (!outcome.is_close || a.size() != b.size()) return notes;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    most = std::isnan(apart) || apart > most ? apart : most;
    if (std::isnan(most)) break;
  }
  notes.emplace_back("difference", fmt::format("{:.6g}", most));
  return notes;
}

// A built-in error is all codes of its thousand: `Type` those of an index, a divisor, a dimension, too.
bool IsWanted(int32_t wanted, int32_t found) { return found == wanted || code::ClassOf(found) == wanted; }

// What is wrong with it; empty when nothing is.
std::string MistakeIn(const sema::Program& program, const Test::Outcome& outcome, const Came& came) {
  const bool failed = came.failure.code != 0;
  const std::string how = "failed with " + TextOf(program, came.failure);
  switch (outcome.kind) {
    case Test::Kind::kLet:
      return failed ? how : "";
    case Test::Kind::kHolds:
      return failed ? how : came.ok ? "" : outcome.is_close ? "not close" : "does not hold";
    case Test::Kind::kFails:
      if (IsWanted(outcome.code, came.failure.code)) return "";
      return fmt::format("wanted the failure {} {}, {}", outcome.code, outcome.error, failed ? "but it " + how : "but it did not fail");
  }
  return "";
}

}  // namespace

void JudgeTest(const sema::Program& program, const Test& test, std::string_view answer, const source::SourceMap& sources,
               TestResult& result) {
  JsonCursor json(answer);
  json.Take('{');
  std::vector<Came> all;
  std::vector<Failure> said;  // a failure that was wanted, or that was reported where it came from, is not reported where it is inherited
  for (const Test::Outcome& outcome : test.outcomes) {
    all.push_back(ReadOne(json, outcome));
    const Came& came = all.back();
    if (outcome.kind == Test::Kind::kFails && IsWanted(outcome.code, came.failure.code)) said.push_back(came.failure);
  }
  if (!json.ok()) {
    result.reason = "an answer that cannot be read";
    result.details = std::string(answer.substr(0, 500)) + "\n";
    return;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Test::Outcome& outcome = test.outcomes[i];
    const Came& came = all[i];
    const std::string mistake = MistakeIn(program, outcome, came);
    if (mistake.empty() || std::find(said.begin(), said.end(), came.failure) != said.end()) continue;
    if (came.failure.code != 0) said.push_back(came.failure);
    if (result.reason.empty()) result.reason = mistake;
    result.details += diag::RenderPlace(outcome.span, mistake, NotesOf(outcome, came), sources, diag::Color::kNever);
  }
  result.passed = result.reason.empty();
}

}  // namespace wf::driver
