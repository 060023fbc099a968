#include "runtime/protocol/http/head.h"

#include <algorithm>
#include <utility>

#include "runtime/base/ascii.h"

namespace wf::http {

namespace {

// A view of bytes that were copied from `from` to `to`; of others, as it is.
class Moved {
 public:
  Moved(std::span<const uint8_t> from, const uint8_t* to)
      : begin_(reinterpret_cast<uintptr_t>(from.data())), end_(begin_ + from.size()), to_(reinterpret_cast<const char*>(to)) {}
  std::string_view operator()(std::string_view text) const {
    const auto at = reinterpret_cast<uintptr_t>(text.data());
    if (at < begin_ || at + text.size() > end_) return text;
    return {to_ + (at - begin_), text.size()};
  }

 private:
  uintptr_t begin_, end_;
  const char* to_;
};

}  // namespace

std::string_view Head::Find(std::string_view lower_case_name) const {
  for (const Header& header : headers_) {
    if (header.name == lower_case_name) return header.value;
  }
  return {};
}

bool Head::SaysTwo(std::string_view lower_case_name) const {
  std::string_view said;
  for (const Header& header : headers_) {
    if (header.name != lower_case_name) continue;
    if (said.data() != nullptr && !base::EqualIgnoringCase(said, header.value)) return true;
    said = header.value;
  }
  return false;
}

bool Head::TryAdd(std::string_view name, std::string_view value) {
  constexpr size_t kLeastBytes = 1024;
  const size_t needed = bytes_.size() + name.size() + value.size();
  if (!headers_.Reserve(headers_.size() + 1)) return false;
  if (needed > bytes_.capacity()) {
    base::Growing<uint8_t> grown;
    if (!grown.Reserve(std::max({needed, 2 * bytes_.capacity(), kLeastBytes})) || !grown.Append(bytes_)) return false;
    const Moved moved(bytes_, grown.data());
    for (Header& header : headers_) header = {moved(header.name), moved(header.value)};
    for (std::string_view* view : {&method_name, &target, &path, &query}) *view = moved(*view);
    bytes_ = std::move(grown);
  }
  const char* const at = reinterpret_cast<const char*>(bytes_.end());
  for (const std::string_view text : {name, value})
    if (!bytes_.Append({reinterpret_cast<const uint8_t*>(text.data()), text.size()})) return false;
  return headers_.Push({{at, name.size()}, {at + name.size(), value.size()}});
}

bool Head::JoinCookies() {
  constexpr std::string_view kName = "cookie", kBetween = "; ";
  const auto is_cookie = [&](const Header& header) { return header.name == kName; };
  if (std::count_if(headers_.begin(), headers_.end(), is_cookie) < 2) return true;
  base::Growing<uint8_t> joined;
  for (const Header& header : headers_) {
    if (!is_cookie(header)) continue;
    for (const std::string_view text : {joined.empty() ? std::string_view() : kBetween, header.value})
      if (!joined.Append({reinterpret_cast<const uint8_t*>(text.data()), text.size()})) return false;
  }
  if (!TryAdd(kName, {reinterpret_cast<const char*>(joined.data()), joined.size()})) return false;
  const Header whole = headers_.back();
  headers_.DropFrom(std::remove_if(headers_.begin(), headers_.end(), is_cookie));
  return headers_.Push(whole);
}

void Head::Add(std::string_view name, std::string_view value) {
  base::Reserve::Insist([&]() -> void* { return TryAdd(name, value) ? this : nullptr; });
}

void Head::AddLast(const Header& views) {
  base::Reserve::Insist([&]() -> void* { return headers_.Push(views) ? this : nullptr; });
}

bool Head::CopyOf(const Head& other) {
  Clear();
  if (!headers_.Reserve(other.headers_.size()) || !bytes_.Append(other.bytes_)) return false;
  const Moved moved(other.bytes_, bytes_.data());
  for (const Header& header : other.headers_) AddLast({moved(header.name), moved(header.value)});  // there is room
  method = other.method;
  method_name = moved(other.method_name);
  target = moved(other.target);
  path = moved(other.path);
  query = moved(other.query);
  ends_in_slash_ = other.ends_in_slash_;
  content_length = other.content_length;
  keep_alive = other.keep_alive;
  http_1_0 = other.http_1_0;
  expects_continue = other.expects_continue;
  return true;
}

void Head::SetPathAndQuery(std::string_view text) {
  const size_t question = text.find('?');
  path = text.substr(0, question);
  if (path.empty()) path = "/";
  ends_in_slash_ = path.size() > 1 && path.ends_with('/');
  if (ends_in_slash_) path.remove_suffix(1);
  query = question == std::string_view::npos ? std::string_view() : text.substr(question + 1);
}

void Head::Clear() {
  // A large head leaves no large buffer behind.
  constexpr size_t kKeptBytes = 4096;
  if (bytes_.capacity() > kKeptBytes)
    bytes_.Free();
  else
    bytes_.Clear();
  headers_.Clear();
  method = Method::kOther;
  method_name = target = path = query = {};
  ends_in_slash_ = false;
  content_length = 0;
  keep_alive = http_1_0 = expects_continue = false;
}

void Head::Free() {
  Clear();
  bytes_.Free();
  headers_.Free();
}

Method MethodOf(std::string_view name) {
  if (name == "GET") return Method::kGet;
  if (name == "HEAD") return Method::kHead;
  return name == "POST" ? Method::kPost : Method::kOther;
}

bool PercentDecode(std::string_view text, Part part, std::string_view* decoded, std::vector<char>* storage) {
  const bool plus_is_space = part == Part::kQuery;
  const bool plain = text.find('%') == std::string_view::npos && !(plus_is_space && text.find('+') != std::string_view::npos);
  if (plain) {
    *decoded = text;
    return true;
  }
  storage->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' && plus_is_space ? ' ' : text[i];
    if (c == '%') {
      if (text.size() - i < 3) return false;
      const int high = base::HexValue(text[i + 1]);
      const int low = base::HexValue(text[i + 2]);
      if (high < 0 || low < 0 || (part == Part::kPath && (high | low) == 0)) return false;
      c = static_cast<char>(high * 16 + low);
      if (c == '/' && part == Part::kPath) return false;
      i += 2;
    }
    storage->push_back(c);
  }
  *decoded = {storage->data(), storage->size()};
  return true;
}

}  // namespace wf::http
