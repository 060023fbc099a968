#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/workbench/tensor.h"

// Inside npy.h: the elements of strings. NumPy gives all of an array the same length, and fills up with zeros, which are no part of them.
namespace wf::workbench {

struct TextType {
  bool is_unicode = false;  // a number of 32 bits for each character, else its bytes
  bool is_big_endian = false;
  int64_t length = 0;  // of each

  int64_t size_bytes() const { return is_unicode ? 4 * length : length; }
};

// Of `<U12`, `>U12`, `|S12`. Nothing: it is another type.
std::optional<TextType> TextTypeOf(std::string_view type);

// REQUIRES: as many bytes as the extents say. Errors: kInvalidArgument for numbers that are no characters; text without the file.
base::Result<Tensor> ReadTexts(const TextType& type, const std::vector<int64_t>& dim, std::span<const uint8_t> elements);

struct WrittenTexts {
  std::string type;  // unicode, or bytes where one of them is not UTF-8
  std::vector<uint8_t> elements;
};
// Errors: kOutOfRange where the longest makes all of them more than onnx::kMostTensorBytes.
base::Result<WrittenTexts> WriteTexts(const Tensor& tensor);

}  // namespace wf::workbench
