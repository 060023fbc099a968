#pragma once

#include <antlr4-runtime.h>

#include <string_view>

namespace wf::parse {

// UTF-8 text for ANTLR's lexer, byte by byte, so that every offset in tokens is a byte offset and nothing is ever converted. Bytes of
// non-ASCII characters show as 0x7F: the grammar allows any of them in strings and comments and none elsewhere, and the lexer caches
// transitions for ASCII only.
// Borrows: the text.
class ByteStream : public antlr4::CharStream {
 public:
  ByteStream(std::string_view text, size_t begin) : text_(text), at_(begin) {}

  void consume() override { ++at_; }
  size_t LA(ssize_t offset) override {
    if (offset == 0) return 0;
    const size_t at = at_ + static_cast<size_t>(offset > 0 ? offset - 1 : offset);
    if (at >= text_.size()) return IntStream::EOF;
    const auto byte = static_cast<unsigned char>(text_[at]);
    return byte < 0x80 ? byte : 0x7F;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return "text"; }
  std::string getText(const antlr4::misc::Interval& interval) override {
    if (interval.a < 0 || static_cast<size_t>(interval.a) >= text_.size()) return {};
    return std::string(text_.substr(static_cast<size_t>(interval.a), static_cast<size_t>(interval.b - interval.a + 1)));
  }
  std::string toString() const override { return std::string(text_); }

 private:
  const std::string_view text_;
  size_t at_;
};

}  // namespace wf::parse
