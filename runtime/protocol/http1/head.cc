#include "runtime/protocol/http1/head.h"

#include "runtime/base/ascii.h"

namespace wf::http1 {

std::string_view Head::Find(std::string_view lower_case_name) const {
  for (const Header& header : headers_) {
    if (header.name == lower_case_name) return header.value;
  }
  return {};
}

void Head::Clear() {
  // A large head leaves no large buffer behind.
  constexpr size_t kKeptBytes = 4096;
  if (bytes_.capacity() > kKeptBytes) {
    bytes_ = {};
  } else {
    bytes_.clear();
  }
  headers_.clear();
  method = Method::kOther;
  method_name = target = path = query = {};
  content_length = 0;
  keep_alive = http_1_0 = expects_continue = false;
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
      if (high < 0 || low < 0 || (high | low) == 0) return false;
      c = static_cast<char>(high * 16 + low);
      if (c == '/' && part == Part::kPath) return false;
      i += 2;
    }
    storage->push_back(c);
  }
  *decoded = {storage->data(), storage->size()};
  return true;
}

}  // namespace wf::http1
