#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wf::base {

// The first byte of [begin, end) that is not part of well-formed UTF-8, or end.
const uint8_t* FindBadUtf8(const uint8_t* begin, const uint8_t* end);
inline bool IsUtf8(std::string_view text) {
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  return FindBadUtf8(begin, begin + text.size()) == begin + text.size();
}

// The first `most` bytes of it, or as many as end with a whole code point.
std::string_view Cut(std::string_view text, size_t most);

// "1 node", "2 nodes".
std::string Counted(uint64_t count, std::string_view what);

// The candidate that `name` is most likely a slip of, or an empty text: at most a third of the letters differ; where none is near, case is
// looked over.   Cost: O(candidates x length^2).
std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates);

// A text of a bounded size for messages, built without allocation; what does not fit is cut, never in the middle of a code point.
// Thread: loop-confined.
class TextBuilder {
 public:
  TextBuilder& operator<<(std::string_view text);
  TextBuilder& operator<<(int64_t number);
  TextBuilder& operator<<(uint64_t number);
  TextBuilder& operator<<(int number) { return *this << static_cast<int64_t>(number); }
  TextBuilder& operator<<(uint32_t number) { return *this << static_cast<uint64_t>(number); }
  // Bytes from outside: cut to 64, never in the middle of a code point; control characters and what is not UTF-8 become `?`.
  TextBuilder& Quote(std::string_view outside);

  std::string_view view() const { return {text_, size_}; }
  std::string str() const { return std::string(view()); }

 private:
  size_t size_ = 0;
  char text_[480];
};

}  // namespace wf::base
