#include "runtime/workbench/npy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/base/text.h"
#include "runtime/onnx/infer.h"

namespace wf::workbench {
namespace {

using base::Result;
using base::Status;

bool IsCharacter(uint32_t c) { return c < 0xd800 || (c > 0xdfff && c <= 0x10ffff); }

// REQUIRES: IsCharacter(c)
void AppendUtf8(uint32_t c, std::string& text) {
  const auto follow = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
    follow(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | c >> 12);
    follow(6);
    follow(0);
  } else {
    text += static_cast<char>(0xf0 | c >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
}

// Of sound UTF-8.
std::vector<uint32_t> CharactersOf(std::string_view text) {
  std::vector<uint32_t> characters;
  for (const char each : text) {
    const auto byte = static_cast<uint8_t>(each);
    if ((byte & 0xc0) == 0x80) {
      characters.back() = characters.back() << 6 | (byte & 0x3f);
    } else {
      characters.push_back(byte < 0x80 ? byte : byte < 0xe0 ? byte & 0x1f : byte < 0xf0 ? byte & 0x0f : byte & 0x07);
    }
  }
  return characters;
}

int64_t CharacterCount(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; });
}

Status TextOf(const TextType& type, std::span<const uint8_t> element, std::string& text) {
  const size_t size = type.is_unicode ? 4 : 1;
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  while (!element.empty() && std::all_of(element.end() - static_cast<ptrdiff_t>(size), element.end(), is_zero))
    element = element.first(element.size() - size);
  if (!type.is_unicode) {
    text.assign(element.begin(), element.end());
    return Status::Ok();
  }
  for (size_t at = 0; at < element.size(); at += 4) {
    uint32_t c = 0;
    for (size_t i = 0; i < 4; ++i) c = c << 8 | element[at + (type.is_big_endian ? i : 3 - i)];
    if (!IsCharacter(c)) return Status(base::kInvalidArgument, fmt::format("{:#x} is no character", c));
    AppendUtf8(c, text);
  }
  return Status::Ok();
}

}  // namespace

std::optional<TextType> TextTypeOf(std::string_view type) {
  if (type.size() < 3 || std::string_view("<>|=").find(type[0]) == std::string_view::npos || (type[1] != 'U' && type[1] != 'S'))
    return std::nullopt;
  TextType result{type[1] == 'U', type[0] == '>', 0};
  const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), result.length);
  const bool fits =
      error == std::errc() && end == type.data() + type.size() && result.length >= 0 && result.length <= onnx::kMostTensorBytes;
  return fits ? std::optional(result) : std::nullopt;
}

Result<Tensor> ReadTexts(const TextType& type, const std::vector<int64_t>& dim, std::span<const uint8_t> elements) {
  const auto size = static_cast<size_t>(type.size_bytes());
  std::vector<std::string> texts(size == 0 ? 0 : elements.size() / size);
  for (size_t i = 0; i < texts.size(); ++i) WF_RETURN_IF_ERROR(TextOf(type, elements.subspan(i * size, size), texts[i]));
  return MakeTexts(std::move(texts), dim);
}

Result<WrittenTexts> WriteTexts(const Tensor& tensor) {
  bool is_unicode = true;
  int64_t length = 1, bytes = 1;
  for (int64_t at = 0; at < tensor.count(); ++at) {
    const std::string_view text = TextAt(tensor, at);
    is_unicode = is_unicode && base::IsUtf8(text);
    length = std::max(length, CharacterCount(text));
    bytes = std::max(bytes, static_cast<int64_t>(text.size()));
  }
  if (!is_unicode) length = bytes;
  const int64_t size = is_unicode ? 4 * length : length;
  int64_t all = 0;
  if (__builtin_mul_overflow(size, tensor.count(), &all) || all > onnx::kMostTensorBytes)
    return Status(base::kOutOfRange, fmt::format("{} strings as long as the longest, {} bytes, are more than {} bytes", tensor.count(),
                                                 size, onnx::kMostTensorBytes));
  WrittenTexts written{fmt::format("{}{}", is_unicode ? "<U" : "|S", length), std::vector<uint8_t>(static_cast<size_t>(all))};
  for (int64_t at = 0; at < tensor.count(); ++at) {
    const std::string_view text = TextAt(tensor, at);
    uint8_t* to = written.elements.data() + at * size;
    if (!is_unicode) {
      std::copy(text.begin(), text.end(), to);
      continue;
    }
    for (const uint32_t c : CharactersOf(text)) {
      for (int shift = 0; shift < 32; shift += 8) *to++ = static_cast<uint8_t>(c >> shift);
    }
  }
  return written;
}

}  // namespace wf::workbench
