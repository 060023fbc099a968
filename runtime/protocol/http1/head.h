#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wf::http1 {

enum class Method : uint8_t { kGet, kHead, kPost, kOther };

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
};

// The head of one request with the bytes that its views point into. Reused from request to request.
// Thread: loop-confined; may be read by others while nobody clears it.   Owns: its bytes.   Bounds: Limits of the decoder.
class Head {
 public:
  Method method = Method::kOther;
  std::string_view method_name, target;
  std::string_view path, query;  // target before and after the first `?`; still percent-encoded
  std::span<const Header> headers() const { return headers_; }
  int64_t content_length = 0;  // -1: chunked
  bool keep_alive = false;
  bool http_1_0 = false;
  bool expects_continue = false;
  size_t stored_bytes() const { return bytes_.size(); }

  // The value of the first header of this name; data() is null when there is none.
  std::string_view Find(std::string_view lower_case_name) const;
  void Clear();

 private:
  friend class Decoder;
  std::vector<uint8_t> bytes_;
  std::vector<Header> headers_;
};

// kPath: an escaped slash would not be the separator that it decodes to, so nothing has it. kQuery: `+` is a space.
enum class Part : uint8_t { kPath, kQuery };

// Decodes %XX. `decoded` views `text` or `storage`. False: a broken escape, a byte 0, or what the part cannot hold.
bool PercentDecode(std::string_view text, Part part, std::string_view* decoded, std::vector<char>* storage);

}  // namespace wf::http1
