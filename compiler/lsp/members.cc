#include "compiler/lsp/members.h"

#include <algorithm>
#include <optional>

#include "compiler/lsp/scope.h"
#include "compiler/parse/words.h"

namespace wf::lsp {
namespace {

using Words = std::vector<std::string>;

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// "(lo: f32, hi: list<f32>)", with `as ".."` behind a name or not, in parts.
std::vector<FieldText> FieldsOfTuple(const std::string& type) {
  std::vector<FieldText> fields;
  int depth = 0;
  std::string part;
  for (const char c : type.substr(1)) {
    const bool ends = depth == 0 && (c == ',' || c == ')');
    depth += (c == '(' || c == '[' || c == '<') ? 1 : (c == ')' || c == ']' || c == '>') ? -1 : 0;
    if (!ends) {
      part += c;
      continue;
    }
    const size_t colon = part.find(':');
    const std::string head = Trimmed(part.substr(0, colon));
    if (colon != std::string::npos) fields.emplace_back(head.substr(0, head.find(' ')), Trimmed(part.substr(colon + 1)));
    part.clear();
    if (c == ')') break;
  }
  return fields;
}

std::string WithoutOption(std::string type) {
  if (type.ends_with('?')) type.pop_back();
  return type;
}

std::string ElementOf(const std::string& type) {
  const std::string plain = WithoutOption(type);
  for (const std::string_view of : {"list<", "map<"}) {
    if (plain.starts_with(of) && plain.ends_with('>')) return plain.substr(of.size(), plain.size() - of.size() - 1);
  }
  return "";
}

std::vector<FieldText> FieldsOfType(const Query& query, const std::string& written) {
  const std::string type = WithoutOption(written);
  if (type.starts_with('(')) return FieldsOfTuple(type);
  const std::string name = type.substr(type.rfind('.') + 1);
  for (const Analysis* analysis : AnalysesOf(query)) {
    for (const auto& [place, thing] : analysis->index().things()) {
      if (thing.kind == ThingKind::kType && thing.name == name && !thing.fields.empty()) return thing.fields;
    }
  }
  return {};
}

// Where what is opened before words[at], a closing bracket, begins; nothing: nowhere.
std::optional<size_t> Opener(const Words& words, size_t at) {
  int depth = 0;
  for (size_t place = at + 1; place-- > 0;) {
    if (words[place] == ")" || words[place] == "]") ++depth;
    if (words[place] != "(" && words[place] != "[") continue;
    if (--depth == 0) return place;
  }
  return std::nullopt;
}

// Where the chain of names, members, calls and elements that ends before `end` begins.
size_t BeginOf(const Words& words, size_t end) {
  size_t at = end;
  while (at > 0) {
    if (words[at - 1] == ")" || words[at - 1] == "]") {
      const auto open = Opener(words, at - 1);
      if (!open) return end;
      at = *open;
      continue;
    }
    if (!parse::IsName(words[at - 1])) return at;
    --at;
    if (at == 0 || words[at - 1] != ".") return at;
    --at;
  }
  return at;
}

// Behind the bracket that opens at `open`.
size_t Behind(const Words& words, size_t open, size_t end) {
  int depth = 0;
  for (size_t at = open; at < end; ++at) {
    if (words[at] == "(" || words[at] == "[") ++depth;
    if ((words[at] == ")" || words[at] == "]") && --depth == 0) return at + 1;
  }
  return end;
}

struct Value {
  std::string type;
  std::vector<FieldText> fields;
};

class ChainReader {
 public:
  ChainReader(const Query& query, const std::vector<const Thing*>& locals, const Words& words, size_t end)
      : query_(query), locals_(locals), words_(words), end_(end) {}

  std::vector<FieldText> Read() {
    size_t at = BeginOf(words_, end_);
    if (at >= end_) return {};
    Value value = Begin(at);
    while (at < end_) {
      if (words_[at] == "[") {
        value = OfType(ElementOf(value.type));
        at = Behind(words_, at, end_);
      } else if (words_[at] == "." && at + 1 < end_) {
        const auto member = [&](const FieldText& field) { return field.first == words_[at + 1]; };
        const auto found = std::find_if(value.fields.begin(), value.fields.end(), member);
        value = found == value.fields.end() ? Value{} : OfType(found->second);
        at += 2;
      } else {
        return {};
      }
    }
    return value.fields;
  }

 private:
  Value OfType(const std::string& type) const { return {type, FieldsOfType(query_, type)}; }

  Value OfName(const std::string& name) const {
    for (const Thing* local : locals_) {
      if (local->name == name && !local->type.empty())
        return local->fields.empty() ? OfType(local->type) : Value{local->type, local->fields};
    }
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->name == name && thing->kind == ThingKind::kConst) return Value{thing->type, thing->fields};
    }
    if (name == "err") return {"", {{"code", "i32"}, {"message", "string"}, {"node", "string"}}};  // of a node's fallback
    return {};
  }

  // The value that the chain begins with; `at` moves behind it.
  Value Begin(size_t& at) const {
    const bool of_module = at + 3 < end_ && words_[at + 1] == "." && words_[at + 3] == "(";
    const size_t name = of_module ? at + 2 : at;
    const bool called = name + 1 < end_ && words_[name + 1] == "(";
    if (!called) return OfName(words_[at++]);
    const Thing* callee = CalleeOf(query_, of_module ? words_[at] : "", words_[name]);
    at = Behind(words_, name + 1, end_);
    return callee == nullptr ? Value{} : OfType(callee->gives);
  }

  const Query& query_;
  const std::vector<const Thing*>& locals_;
  const Words& words_;
  const size_t end_;
};

}  // namespace

std::vector<FieldText> MembersOf(const Query& query, const std::vector<const Thing*>& locals, const Words& words, size_t end) {
  return ChainReader(query, locals, words, end).Read();
}

}  // namespace wf::lsp
