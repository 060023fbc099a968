#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wf::lsp {

// Messages of JSON-RPC between two file descriptors, framed as LSP has it: headers, an empty line, Content-Length bytes.
// Thread: one.   Borrows: the descriptors.   Bounds: a message over kMaxBytes is passed over and reads as an empty one.
// Errors: what begins no message is passed over; the first of it is complained of, and so is an input that ends inside a message.
class Transport {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  using Complain = std::function<void(std::string_view)>;

  Transport(int in, int out, Complain complain) : in_(in), out_(out), complain_(std::move(complain)) {}
  std::optional<std::string> Read();      // nothing at the end of the input
  bool Waiting(int within_ms = 0) const;  // more has arrived: what is known now may be stale
  void Write(std::string_view body);

 private:
  bool Fill();
  void PassOver(const std::string& header);
  std::optional<std::string_view> Line();  // without its end; valid until the next call

  const int in_, out_;
  const Complain complain_;
  bool has_passed_over_ = false;
  std::string buffer_, line_;
  size_t at_ = 0;
};

}  // namespace wf::lsp
