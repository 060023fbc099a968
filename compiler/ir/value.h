#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/type.h"

namespace wf::ir {

// A value of the language at compile time: constants, and what the interpreter computes. Deep, immutable once made, cheap to copy.
struct Value {
  uint64_t bits = 0;                                     // scalar, zero-extended; optional: 1 when it has a value
  std::shared_ptr<const std::string> text;               // string, bytes; a tensor's elements, row-major, little-endian
  std::vector<int64_t> dims;                             // tensor
  std::shared_ptr<const std::vector<Value>> items;       // record fields, list elements, map values, the optional's value
  std::shared_ptr<const std::vector<std::string>> keys;  // map, sorted

  static Value Scalar(uint64_t bits) { return {.bits = bits, .text = {}, .dims = {}, .items = {}, .keys = {}}; }
  static Value Text(std::string text);
  static Value Tensor(std::vector<int64_t> dims, std::string elements);
  static Value Items(std::vector<Value> items);  // record or list
};
inline constexpr size_t kLongText = 4096;  // bytes; of texts and tensors so long, those that values share are looked at once
size_t HashOf(const Value& value);         // of its first parts and bytes: cheap however large it is
using TextHashes = std::map<std::shared_ptr<const std::string>, size_t>;
size_t WholeHashOf(const Value& value, TextHashes& known);  // long texts that values share are read once
bool SameBits(const TypeTable& types, TypeId type, const Value& a, const Value& b);
std::string ToString(const TypeTable& types, TypeId type, const Value& value);  // stable; floats with all their digits

}  // namespace wf::ir
