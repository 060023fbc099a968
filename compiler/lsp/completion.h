#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "compiler/lsp/context.h"
#include "compiler/lsp/index.h"
#include "compiler/lsp/workspace.h"

// What may be typed next. `wanted` tells by the context alone which kind of thing that is; the files complete_*.cc add what there is of it.
namespace wf::lsp {

// Numbers of LSP.
enum ItemKind : int {
  kFunctionItem = 3,
  kFieldItem = 5,
  kVariableItem = 6,
  kClassItem = 7,
  kInterfaceItem = 8,
  kModuleItem = 9,
  kPropertyItem = 10,
  kKeywordItem = 14,
  kFileItem = 17,
  kFolderItem = 19,
  kConstantItem = 21,
  kStructItem = 22,
  kEventItem = 23
};

ItemKind ItemOf(ThingKind kind);

// What is offered, in order, each label once.
class Items {
 public:
  void Add(std::string label, ItemKind kind, std::string detail = "", std::string about = "");  // about: Markdown
  void Add(const Thing& thing);
  void Push(json::Object item) { items_.push_back(std::move(item)); }
  bool empty() const { return items_.empty(); }
  json::Array Take() { return std::move(items_); }

 private:
  std::set<std::string> seen_;
  json::Array items_;
};

// One request.
// Thread: loop-confined.   Borrows: query, host.
struct Completion {
  const Query& query;
  const Host& host;
  const Context context;
  Items items;
};

enum class Wanted : uint8_t {
  kNothing,
  kFile,
  kMember,
  kNameInHole,
  kModule,
  kStatus,
  kError,
  kStubbed,
  kPattern,
  kStatement,
  kServedModel,
  kServedWorkflow,
  kExtent,
  kType,
  kValue,
  kSettingValue
};
// `in_string`: what was typed means something in a string alone.
Wanted WantedAt(const Context& context, bool in_string);

// complete_names.cc
void AddThings(Completion& at, ThingKind kind);  // that the file declares
void AddExports(Completion& at, const Analysis& analysis, const ast::File& module);
void AddMembers(Completion& at);
void AddLocalNames(Completion& at);
void AddTypes(Completion& at);
void AddExtents(Completion& at);
void AddValues(Completion& at);

// complete_labels.cc
void AddLabels(Completion& at);        // of the arguments that a call still lacks
void AddResultLabels(Completion& at);  // of the results that a workflow's `return` still lacks

// complete_paths.cc
void AddModules(Completion& at);
void AddFiles(Completion& at);  // in `onnx("..")` and `file("..")`

// complete_settings.cc
void AddSettingWords(Completion& at);
void AddSettingValues(Completion& at);  // of the setting that is being written: the words among what it takes

}  // namespace wf::lsp
