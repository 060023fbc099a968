#include "compiler/lsp/outline.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace wf::lsp {
namespace {

// What may be left out of a declaration.
struct Body {
  const ast::Decl* decl;
  uint32_t begin, end;
  std::string_view left;  // in its place, with a `}` at its end
};

// Of a declaration that parsed whole.
std::vector<Body> BodiesOf(const ast::File& file) {
  std::vector<Body> bodies;
  for (const ast::DeclPtr& decl : file.decls) {
    if (decl->has_errors) continue;
    if (const auto* fn = ast::DynAs<ast::FnDecl>(*decl)) {
      bodies.push_back({fn, fn->result->span.end, fn->span.end, "{x"});
    } else if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(*decl)) {
      bodies.push_back({workflow, workflow->result->span.end, workflow->span.end, "{"});
    } else if (const auto* test = ast::DynAs<ast::TestDecl>(*decl)) {
      bodies.push_back({test, test->title_span.end, test->span.end, "{"});
    }
  }
  return bodies;
}

// Functions that constants, extents and defaults may call: those that are named outside of bodies, and in the bodies of such.
class Named {
 public:
  Named(const Analysis& analysis, const std::vector<Body>& bodies) : analysis_(analysis), tokens_(analysis.tree()->tokens) {
    for (const Body& body : bodies) {
      if (body.decl->kind == ast::DeclKind::kFnDecl) functions_.emplace(body.decl->name.text, &body);
    }
    uint32_t outside = 0;
    for (const Body& body : bodies) {
      const ast::Name& name = body.decl->name;  // a test has none
      if (!name.text.empty()) Read(std::exchange(outside, name.span.end), name.span.begin);
      Read(outside, body.begin);
      outside = body.end;
    }
    Read(outside, static_cast<uint32_t>(analysis.sources().text(analysis.root()).size()));
    while (!unread_.empty()) {
      const Body* body = unread_.back();
      unread_.pop_back();
      Read(body->begin, body->end);
    }
  }
  bool Holds(const Body& body) const { return named_.contains(&body); }

 private:
  void Read(uint32_t begin, uint32_t end) {
    const auto is_before = [](const Span& token, uint32_t byte) { return token.begin < byte; };
    for (auto at = std::lower_bound(tokens_.begin(), tokens_.end(), begin, is_before); at != tokens_.end() && at->begin < end; ++at) {
      const auto [first, last] = functions_.equal_range(analysis_.sources().Text(*at));
      for (auto function = first; function != last; ++function) {
        if (named_.insert(function->second).second) unread_.push_back(function->second);
      }
    }
  }

  const Analysis& analysis_;
  const std::vector<Span>& tokens_;
  std::multimap<std::string_view, const Body*> functions_;
  std::set<const Body*> named_;
  std::vector<const Body*> unread_;
};

}  // namespace

std::string OutlineAround(const Analysis& analysis, uint32_t byte) {
  std::string text(analysis.sources().text(analysis.root()));
  if (analysis.tree() == nullptr) return text;
  const std::vector<Body> bodies = BodiesOf(*analysis.tree());
  const Named named(analysis, bodies);
  for (const Body& body : bodies) {
    const bool is_around = body.decl->span.begin <= byte && byte <= body.end;
    if (is_around || named.Holds(body) || body.end - body.begin <= body.left.size()) continue;
    std::fill(text.begin() + body.begin, text.begin() + body.end, ' ');
    text.replace(body.begin, body.left.size(), body.left);
    text[body.end - 1] = '}';
  }
  return text;
}

}  // namespace wf::lsp
