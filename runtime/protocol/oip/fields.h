#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/sink.h"

namespace wf::oip {

// A field by its name in JSON and its number in the protobuf message; 0: it is in JSON only.
struct Key {
  std::string_view name;
  uint32_t number = 0;
};

// An answer that is written once for both dialects, field by field. What is open is ended in turn, the answer itself by its destructor.
// Thread: loop-confined.   Borrows: the sink.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void Text(Key key, std::string_view text) = 0;
  virtual void Integer(Key key, int64_t value) = 0;
  virtual void Bool(Key key, bool value) = 0;
  virtual void Texts(Key key, std::span<const std::string_view> texts) = 0;
  virtual void Integers(Key key, std::span<const int64_t> values) = 0;
  virtual void Choice(Key key, std::string_view name, uint32_t number) = 0;  // a value of an enumeration
  virtual void Begin(Key key) = 0;                                           // a message in a field
  virtual void End() = 0;
  // An entry of a map, which in JSON is a member of what is open: the key of its value, which is written next.
  virtual Key BeginEntry(Key map, std::string_view name, uint32_t value) = 0;
  virtual void EndEntry() = 0;
  virtual void BeginList(Key key) = 0;  // of messages
  virtual void BeginElement() = 0;
  virtual void EndElement() = 0;
  virtual void EndList() = 0;
};

// `bare`: the answer is its only field, an array.
class JsonFields final : public Fields {
 public:
  explicit JsonFields(wf_sink* out, bool bare = false);
  ~JsonFields() override;
  void Text(Key key, std::string_view text) override;
  void Integer(Key key, int64_t value) override;
  void Bool(Key key, bool value) override;
  void Texts(Key key, std::span<const std::string_view> texts) override;
  void Integers(Key key, std::span<const int64_t> values) override;
  void Choice(Key key, std::string_view name, uint32_t number) override;
  void Begin(Key key) override;
  void End() override;
  Key BeginEntry(Key, std::string_view name, uint32_t) override { return {name}; }
  void EndEntry() override {}
  void BeginList(Key key) override;
  void BeginElement() override;
  void EndElement() override { End(); }
  void EndList() override;

 private:
  void Put(std::string_view text) { out_->Put(text); }
  void PutName(Key key);
  void Separate();

  wf_sink* const out_;
  const bool bare_;
  bool nameless_;      // the next field has no name
  bool first_ = true;  // of what is open
};

class MessageFields final : public Fields {
 public:
  explicit MessageFields(wf_sink* out) { open_[0].out = out; }
  void Text(Key key, std::string_view text) override;
  void Integer(Key key, int64_t value) override;
  void Bool(Key key, bool value) override { Integer(key, value ? 1 : 0); }
  void Texts(Key key, std::span<const std::string_view> texts) override;
  void Integers(Key key, std::span<const int64_t> values) override;
  void Choice(Key key, std::string_view, uint32_t number) override { Integer(key, number); }
  void Begin(Key key) override;
  void End() override;
  Key BeginEntry(Key map, std::string_view name, uint32_t value) override;
  void EndEntry() override;
  void BeginList(Key key) override { list_[depth_] = key.number; }
  void BeginElement() override { Begin({{}, list_[depth_]}); }
  void EndElement() override { End(); }
  void EndList() override {}

 private:
  static constexpr int kMaxDepth = 5;  // of what answers hold
  struct Open {
    wf_sink own;
    wf_sink* out = &own;
    uint32_t number = 0;
  };
  wf_sink* out() { return open_[depth_].out; }

  Open open_[kMaxDepth];
  uint32_t list_[kMaxDepth] = {};
  int depth_ = 0;
};

}  // namespace wf::oip
