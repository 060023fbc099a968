#include "compiler/sema/block_names.h"

#include <algorithm>

namespace wf::sema {

bool Holds(const source::Span& outer, const source::Span& inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

void BlockNames::Add(const ast::Stmt& stmt) {
  const auto add = [&](const ast::Name& name) {
    by_name_.emplace(name.text, all_.size());
    all_.push_back({&name, &stmt});
  };
  if (const auto* let = ast::DynAs<ast::LetStmt>(stmt)) add(let->name);
  if (const auto* node = ast::DynAs<ast::NodeStmt>(stmt)) add(node->name);
  if (const auto* stage = ast::DynAs<ast::StageStmt>(stmt)) {
    for (const auto& node : stage->nodes) Add(*node);
  }
}

void BlockNames::Read() {
  if (is_read_) return;
  is_read_ = true;
  for (const ast::StmtPtr& stmt : *statements_) Add(*stmt);
}

const BlockNames::Declared* BlockNames::Find(std::string_view name) {
  Read();
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &all_[at->second];
}

const BlockNames::Declared* BlockNames::Around(const source::Span& use) {
  Read();
  const auto begins_before = [&](const Declared& one) { return one.stmt->span.begin <= use.begin; };
  const auto after = std::partition_point(all_.begin(), all_.end(), begins_before);
  if (after == all_.begin()) return nullptr;
  const Declared& last = *std::prev(after);
  return Holds(last.stmt->span, use) ? &last : nullptr;
}

std::optional<std::vector<Step>> BlockNames::WayTo(const std::string& from, const std::string& wanted) {
  return cycles_.WayTo(from, wanted, [this](const std::string& name) -> std::optional<DeclaredBy> {
    const Declared* at = Find(name);
    return at == nullptr ? std::nullopt : std::optional(DeclaredBy{at->name->span, at->stmt});
  });
}

}  // namespace wf::sema
