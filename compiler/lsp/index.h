#pragma once

#include <compare>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/sema/sink.h"

namespace wf::lsp {

using source::FileId;
using source::Span;

enum class ThingKind : uint8_t {
  kConst,
  kType,
  kError,
  kFn,
  kExtern,
  kModel,
  kRemote,
  kWorkflow,
  kService,
  kModule,
  kParam,
  kLet,
  kNode,
  kIndex,
  kLoop,
  kAccumulator,
  kDimension,
  kField,
  kStage
};
std::string_view WordFor(ThingKind kind);  // "node"

// Where the name of a thing begins: what makes it the same thing.
struct Place {
  FileId file = FileId::kNone;
  uint32_t begin = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
inline Place PlaceOf(const Span& span) { return {span.file, span.begin}; }

using FieldText = std::pair<std::string, std::string>;  // name and type

// Whatever a program gives a name to.
struct Thing {
  ThingKind kind = ThingKind::kLet;
  std::string name, type;           // type: empty where there is none, or it is not known
  Span span;                        // of the name
  const ast::Decl* decl = nullptr;  // of a declaration at the top of a file
  std::string target;               // kModule: the path of what it imports
  std::string stage;                // kNode
  bool in_written_stage = false;
  std::string value;              // kConst: the beginning of it
  std::string settings;           // kNode, kModel: those in force
  std::vector<FieldText> fields;  // of a record, or of a value that is one
  std::vector<FieldText> takes;   // of what is called, a record among it: names, and parameters as they are written
  std::string gives;              // the type of a call of it
  std::string about;              // of what is built in, which no declaration documents
};

struct Occurrence {
  Span span;
  Place thing;
};

// What every name of a program means, declared or used.
// Borrows: trees and sources.   Cost: O(names · log names).
class Index final : public sema::Sink {
 public:
  explicit Index(const source::SourceMap& sources) : sources_(sources) {}

  void AddModule(const ast::File& file);  // before Check
  void Finish();                          // after it

  void Collected(const std::deque<sema::Module>& modules) override { modules_ = &modules; }
  void Declare(const sema::Local& local, sema::LocalKind kind) override;
  void Use(const Span& use, const Span& declared) override;
  void UseField(const Span& use, sema::TypeRef record, const sema::Field& field) override;
  void ReadMember(const Span& name, sema::TypeRef object) override;
  void Checked(const sema::Entity& entity, const sema::Program& so_far) override;

  // What stands at a byte, or ends there.
  const Occurrence* At(FileId file, uint32_t byte) const;
  const std::string* FieldAt(const Span& use) const;                          // the type of a field of a record that nobody declared
  const std::vector<FieldText>* MembersAt(FileId file, uint32_t byte) const;  // of the value whose member is named there, known or not
  const Thing* Find(Place place) const;
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }  // by place; none twice
  const std::map<Place, Thing>& things() const { return things_; }

 private:
  Thing& Add(ThingKind kind, const ast::Name& name, const ast::Decl* decl);
  void AddMembers(const ast::TypePtr& result);
  void AddStages(const std::vector<ast::StmtPtr>& body);
  void NoteCall(const ast::Decl& decl, Thing& thing) const;
  sema::RecordNames NamesIn(FileId file) const;
  void NoteWorkflow(const sema::Workflow& workflow, const sema::Program& program);

  struct FieldUse {
    Span span;
    Place record;
    std::string name;
  };
  const source::SourceMap& sources_;
  const std::deque<sema::Module>* modules_ = nullptr;  // until Finish
  std::map<Place, Thing> things_;
  std::vector<Occurrence> occurrences_;
  std::vector<FieldUse> field_uses_;
  struct MemberRead {
    Span name;
    size_t record;  // in records_
  };
  std::map<Place, MemberRead> member_reads_;
  std::vector<std::vector<FieldText>> records_;                       // those that have members, each once
  std::map<std::pair<FileId, sema::TypeRef>, size_t> known_records_;  // until Finish
  std::map<Place, std::string> field_types_;                          // by where they are used
  std::map<std::pair<Place, std::string>, Place> record_fields_;      // by record and name
};

}  // namespace wf::lsp
