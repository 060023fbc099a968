#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/growing.h"

namespace wf::http1 {
class Decoder;
}

namespace wf::http {

enum class Method : uint8_t { kGet, kHead, kPost, kOther };

// Of what one head may be.
struct Limits {
  size_t head_bytes = 32 * 1024;
  size_t request_line_bytes = 8 * 1024;  // of HTTP/2: method and path
  size_t headers = 128;
  bool operator==(const Limits&) const = default;
};

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
};

// What a head is refused with that there is no memory for.
inline constexpr int kNoMemory = 429;
inline constexpr std::string_view kNoMemoryForHead = "no memory for the headers";

// The head of one request with the bytes that its views point into. Reused from request to request.
// Thread: loop-confined; may be read by others while nobody clears it.   Owns: its bytes.   Bounds: Limits.
// Errors: TryAdd, JoinCookies and CopyOf, which take what clients send, are false where there is no memory for it: the head is as before,
// of CopyOf empty. Add and AddLast insist.
class Head {
 public:
  Method method = Method::kOther;
  std::string_view method_name, target;
  // Of the target, before and after the first `?`; still percent-encoded. A slash at the end of a path is as none.
  std::string_view path, query;
  std::string_view path_as_sent() const { return {path.data(), path.size() + (ends_in_slash_ ? 1 : 0)}; }  // for those who read of it
  std::span<const Header> headers() const { return {headers_.data(), headers_.size()}; }
  int64_t content_length = 0;  // -1: chunked
  bool keep_alive = false;
  bool http_1_0 = false;
  bool expects_continue = false;
  size_t stored_bytes() const { return bytes_.size(); }

  // Copies a field behind the others; views of the head see the same as before.
  [[nodiscard]] bool TryAdd(std::string_view name, std::string_view value);
  void Add(std::string_view name, std::string_view value);
  void AddLast(const Header& views);             // of what outlives the head, or of its own bytes
  [[nodiscard]] bool CopyOf(const Head& other);  // all of it, in bytes of its own
  void DropFirst(size_t fields) { headers_.DropFirst(fields); }
  [[nodiscard]] bool JoinCookies();  // HTTP/2 may send one field `cookie` in several. Source: RFC 9113, 8.2.3
  void SetPathAndQuery(std::string_view text);

  // The value of the first header of this name; data() is null when there is none.
  std::string_view Find(std::string_view lower_case_name) const;
  bool SaysTwo(std::string_view lower_case_name) const;  // by headers of this name that differ
  void Clear();
  void Free();  // Clear, and keeps no room

 private:
  friend class http1::Decoder;
  base::Growing<uint8_t> bytes_;
  base::Growing<Header> headers_;
  bool ends_in_slash_ = false;  // behind `path`, which stands before it
};

inline constexpr std::string_view kTwoTypes = "more than one header Content-Type, and they differ";

Method MethodOf(std::string_view name);

// kPath: an escaped slash would not be the separator that it decodes to, so nothing has it, nor a byte 0. kQuery: `+` is a space.
enum class Part : uint8_t { kPath, kQuery };

// Decodes %XX. `decoded` views `text` or `storage`. False: a broken escape, or what the part cannot hold.
bool PercentDecode(std::string_view text, Part part, std::string_view* decoded, std::vector<char>* storage);

}  // namespace wf::http
