// Settings of nodes, stages, models, remotes and services.

#include <algorithm>
#include <cctype>

#include "compiler/lsp/completion.h"
#include "compiler/lsp/scope.h"
#include "compiler/parse/words.h"
#include "compiler/sema/settings.h"

namespace wf::lsp {
namespace {

int PlaceOf(Block block) {
  switch (block) {
    case Block::kNodeSettings:
      return sema::kInNode;
    case Block::kStageSettings:
      return sema::kInStage;
    case Block::kModelSettings:
      return sema::kInModel;
    case Block::kRemoteSettings:
      return sema::kInRemote;
    case Block::kService:
      return sema::kInService;
    case Block::kFile:
    case Block::kBody:
    case Block::kStage:
    case Block::kFn:
    case Block::kTest:
    case Block::kRecord:
    case Block::kOther:
      return 0;
  }
  return 0;
}

// What the node whose settings are typed calls.
std::vector<const Thing*> Callees(const Completion& at) {
  std::vector<const Thing*> callees;
  const auto& words = at.context.around;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "(") continue;
    const bool member = i >= 3 && words[i - 2] == ".";
    if (const Thing* callee = CalleeOf(at.query, member ? words[i - 3] : "", words[i - 1])) callees.push_back(callee);
  }
  return callees;
}

// Whether what the settings are of has what the setting speaks of.
bool MayTake(const Completion& at, sema::Needs needs) {
  if (needs == sema::Needs::kUnbuilt) return false;
  if (needs == sema::Needs::kNothing || at.context.block != Block::kNodeSettings) return true;
  const auto& words = at.context.around;
  if (needs == sema::Needs::kLoop) return std::find(words.begin(), words.end(), "for") != words.end();
  const auto callees = Callees(at);
  return std::any_of(callees.begin(), callees.end(), [&](const Thing* callee) {
    const auto* external = callee->decl != nullptr ? ast::DynAs<ast::ExternDecl>(*callee->decl) : nullptr;
    const bool outside = callee->kind == ThingKind::kRemote || (external != nullptr && external->is_node);
    return needs == sema::Needs::kModelCall ? callee->kind == ThingKind::kModel : outside;
  });
}

// The open extents of what a node's models take, as their signatures are written: `w` of `f32[batch, 4, w]`.
void AddSymbolsOfCallees(Completion& at) {
  for (const Thing* callee : Callees(at)) {
    for (const auto& [name, text] : callee->takes) {
      std::string word;
      for (const char c : text.substr(std::min(text.find('['), text.size()))) {
        const bool goes_on = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        if (goes_on) word += c;
        if (goes_on) continue;
        if (parse::IsName(word)) at.items.Add(word, kVariableItem, text);
        word.clear();
      }
    }
  }
}

}  // namespace

void AddSettingWords(Completion& at) {
  for (const sema::SettingInfo& row : sema::kSettings) {
    const bool stands_here = (row.places & PlaceOf(at.context.block)) != 0 && MayTake(at, row.needs);
    if (stands_here) at.items.Add(std::string(row.word), kPropertyItem, std::string(row.takes), std::string(row.about));
  }
}

void AddSettingValues(Completion& at) {
  const sema::SettingInfo* row = sema::FindSetting(at.context.head());
  if (row == nullptr || at.context.words.size() > 2) return;
  const bool is_pad = row->setting == sema::SettingWord::kPad;
  if (at.context.words.size() == 2) {
    if (is_pad) at.items.Add("to", kKeywordItem);
    if (row->setting == sema::SettingWord::kBatch) at.items.Add("within", kKeywordItem);
    return;
  }
  if (is_pad) return AddSymbolsOfCallees(at);
  for (std::string_view rest = row->takes; !rest.empty();) {
    const size_t begin = rest.find('`'), end = rest.find('`', begin + 1);
    if (begin == std::string_view::npos || end == std::string_view::npos) return;
    const std::string word(rest.substr(begin + 1, end - begin - 1));
    if (parse::IsName(word)) at.items.Add(word, kKeywordItem);
    rest.remove_prefix(end + 1);
  }
}

}  // namespace wf::lsp
