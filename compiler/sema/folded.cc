#include "compiler/sema/folded.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "compiler/base/sha256.h"
#include "compiler/ir/ir.h"

namespace wf::sema {
namespace {

class KeyWriter {
 public:
  void Number(uint64_t number) { hash_.Add({reinterpret_cast<const char*>(&number), sizeof(number)}); }
  void Text(std::string_view text) {
    Number(text.size());
    hash_.Add(text);
  }
  template <typename Id>
  void Ids(const std::vector<Id>& ids) {
    Number(ids.size());
    for (const Id id : ids) Number(static_cast<uint64_t>(id));
  }
  void Type(const ir::Type& type) {
    Number(static_cast<uint64_t>(type.kind));
    Number(static_cast<uint64_t>(type.dtype));
    Ids(type.dims);
    Number(static_cast<uint64_t>(type.element));
    Number(type.fields.size());
    for (const ir::Field& field : type.fields) {
      Text(field.name);
      Number(static_cast<uint64_t>(field.type));
    }
    Text(type.name);
  }
  void Value(const ir::Value& value) {
    Number(value.bits);
    if (value.text) {
      SharedText(*value.text);
    } else {
      Text({});
    }
    Ids(value.dims);
    Number(value.items ? value.items->size() + 1 : 0);
    if (value.items) {
      for (const ir::Value& item : *value.items) Value(item);
    }
    Number(value.keys ? value.keys->size() + 1 : 0);
    if (value.keys) {
      for (const std::string& key : *value.keys) Text(key);
    }
  }
  Folded::Key Finish() { return hash_.Finish(); }

 private:
  // One that values share is read once, however often it stands in them.
  void SharedText(const std::string& text) {
    if (text.size() < ir::kLongText) return Text(text);
    const auto [known, is_new] = texts_.try_emplace(&text, texts_.size());
    if (is_new) return Text(text);
    Number(UINT64_MAX);  // no text is so long
    Number(known->second);
  }

  source::Sha256 hash_;
  std::map<const std::string*, size_t> texts_;
};

size_t BytesOf(const ir::Value& value) {
  size_t bytes = sizeof(value) + (value.text ? value.text->size() : 0) + value.dims.size() * sizeof(int64_t);
  if (value.items) {
    for (const ir::Value& item : *value.items) bytes += BytesOf(item);
  }
  if (value.keys) {
    for (const std::string& key : *value.keys) bytes += sizeof(key) + key.size();
  }
  return bytes;
}

}  // namespace

Folded::Key Folded::KeyOf(const ir::Program& program, const ir::Body& body) {
  KeyWriter key;
  key.Number(body.ops.size());
  for (const ir::Op& op : body.ops) {
    key.Number(static_cast<uint64_t>(op.kind));
    key.Number(static_cast<uint64_t>(op.type));
    key.Number(op.imm);
    key.Ids(op.args);
    key.Ids(op.blocks);
  }
  key.Number(body.blocks.size());
  for (const ir::Block& block : body.blocks) {
    key.Ids(block.params);
    key.Ids(block.ops);
    key.Number(static_cast<uint64_t>(block.result));
  }
  key.Number(program.types.size());
  for (size_t at = 0; at < program.types.size(); ++at) key.Type(program.types[static_cast<ir::TypeId>(at)]);
  key.Number(program.constants.size());
  for (size_t at = 0; at < program.constants.size(); ++at) {
    key.Number(static_cast<uint64_t>(program.constants[at].type));
    key.Value(program.constants[at].value);
  }
  key.Number(program.natives.size());
  for (const std::string& native : program.natives) key.Text(native);
  return key.Finish();
}

const Folded::Known* Folded::Find(const Key& key) {
  const auto at = kept_.find(key);
  if (at == kept_.end()) return nullptr;
  at->second.used = ++now_;
  return &at->second.known;
}

void Folded::Add(const Key& key, Known known) {
  const size_t bytes = sizeof(Kept) + (known.outcome.value ? BytesOf(*known.outcome.value) : 0);
  if (known.steps < kLong || bytes > kMostBytes) return;
  if (const auto old = kept_.find(key); old != kept_.end()) {
    bytes_ -= old->second.bytes;
    kept_.erase(old);
  }
  while (bytes_ + bytes > kMostBytes) {
    const auto oldest =
        std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    bytes_ -= oldest->second.bytes;
    kept_.erase(oldest);
  }
  bytes_ += bytes;
  kept_.emplace(key, Kept{std::move(known), bytes, ++now_});
}

}  // namespace wf::sema
