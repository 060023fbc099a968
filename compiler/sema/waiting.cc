#include "compiler/sema/waiting.h"

#include <algorithm>

namespace wf::sema {
namespace {

// The locals that `names` mean and that a statement above would not see.
std::vector<LocalId> InnerLocals(const Body& body, const NameSet& names, const Where& where) {
  std::vector<LocalId> inner;
  for (const std::string& name : names) {
    const auto local = body.Find(name);
    if (local && *local >= where.n_above) inner.push_back(*local);
  }
  return inner;
}

// Whether a `for` over the same things can stand above.
bool CanBeFor(const Body& body, const std::vector<LocalId>& inner, const Where& where) {
  if (where.still_loop == nullptr) return false;
  const StillLoop& loop = *where.still_loop;
  NameSet names;
  CollectNames(loop.source, names);
  const auto is_of_step = [&](LocalId local) { return local >= loop.first && local < loop.end; };
  return InnerLocals(body, names, where).empty() && std::all_of(inner.begin(), inner.end(), is_of_step);
}

}  // namespace

std::string CodeAt(const Body& body, const Span& span, std::string otherwise) {
  constexpr size_t kLongest = 60;
  if (span.file == source::FileId::kNone) return otherwise;
  const std::string_view text = body.env.input.sources.Text(span);
  return text.size() <= kLongest && text.find('\n') == std::string_view::npos ? std::string(text) : otherwise;
}

std::string HelpToWait(const Body& body, const Span& call, const NameSet& names, const Where& where) {
  if (where.holder == Where::Holder::kNone) return std::string(where.instead);
  const std::vector<LocalId> inner = InnerLocals(body, names, where);
  const bool is_let = where.holder == Where::Holder::kLet;
  const std::string name = is_let ? "let NAME = " : "node NAME = ", text = CodeAt(body, call, "..");
  if (inner.empty()) return "write `" + name + text + ";` above" + (is_let ? " it in the block" : "") + " and use NAME here";
  if (std::any_of(inner.begin(), inner.end(), [&](LocalId local) { return body.infos[local].kind == LocalKind::kAccumulator; })) {
    return "the steps of a `fold` do not wait, so no such call can have its accumulator";
  }
  const auto is_bound_once = [&](LocalId local) {
    return body.infos[local].kind == LocalKind::kLet || body.infos[local].kind == LocalKind::kArm;
  };
  if (std::all_of(inner.begin(), inner.end(), is_bound_once)) {
    const std::string& bound = body.locals[inner.front()].name;
    return "`" + bound + "` is known inside alone; give its value a node above, then the call, as `" + name + text +
           ";`, and use NAME here";
  }
  if (!CanBeFor(body, inner, where)) return "call it for each in a `for` above, and read here what that gives";
  return "a `for` calls it for each: `" + name + "for " + CodeAt(body, where.still_loop->text, "x in xs") + " { " + text +
         " };` above, and NAME is read here";
}

}  // namespace wf::sema
