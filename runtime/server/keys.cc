#include "runtime/server/keys.h"

#include <algorithm>
#include <string>

#include "runtime/base/ascii.h"
#include "runtime/server/config_file.h"

namespace wf::server {
namespace {

constexpr std::string_view kScheme = "bearer", kBlanks = " \t\r";  // of lines that end in CR and LF, too

// What stands behind `Bearer`; empty: it is another scheme.
std::string_view BearerOf(std::string_view value) {
  if (value.size() <= kScheme.size() || value[kScheme.size()] != ' ') return {};
  return base::EqualIgnoringCase(value.substr(0, kScheme.size()), kScheme) ? base::Trim(value.substr(kScheme.size())) : std::string_view();
}

// One of each is looked at: a request with hundreds would take as many times as long.
struct Shown {
  std::string_view bearer, key;
  bool twice = false;
};
Shown ShownBy(const http::Head& head) {
  Shown shown;
  int bearers = 0, keys = 0;
  for (const http::Header& header : head.headers()) {
    if (header.name == "authorization" && ++bearers == 1) shown.bearer = BearerOf(header.value);
    if (header.name == "x-api-key" && ++keys == 1) shown.key = base::Trim(header.value);
  }
  shown.twice = bearers > 1 || keys > 1;
  return shown;
}

// `place`: how a message begins, of the part with that number.
template <typename PlaceOf>
base::Status AddAll(std::string_view text, char separator, PlaceOf&& place, Keys* keys) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view key = base::Trim(base::TakeUpTo(separator, &text), kBlanks);
    if (key.empty() || (separator == '\n' && key.front() == '#')) continue;
    if (const base::Status status = keys->Add(key); !status.ok()) return {status.code(), place(number) + ": " + status.message()};
  }
  return {};
}

}  // namespace

base::Status Keys::Add(std::string_view key) {
  const auto fails = [](std::string_view why) { return base::Status(base::kInvalidArgument, std::string(why)); };
  if (key.size() < kLeastBytes) return fails("a key has 16 bytes or more, or it could be guessed");
  if (key.size() > kMostBytes) return fails("a key has 256 bytes at most");
  if (std::any_of(key.begin(), key.end(), [](char c) { return c <= ' ' || c > '~' || c == ','; }))
    return fails("a key is of letters, digits and marks of ASCII, without spaces and commas");
  if (keys_.size() == kMostKeys) return fails("there are more than 256 keys");
  Key& added = keys_.emplace_back();
  std::copy(key.begin(), key.end(), added.bytes.begin());
  added.size = key.size();
  return {};
}

// Every key is compared to its end.
bool Keys::Has(std::string_view shown) const noexcept {
  if (shown.size() > kMostBytes) return false;
  unsigned found = 0;
  for (const Key& key : keys_) {
    volatile size_t differs = key.size ^ shown.size();  // so that the compiler cannot end the loop where they do
    for (size_t i = 0; i < shown.size(); ++i) differs = differs | (key.bytes[i] ^ static_cast<uint8_t>(shown[i]));
    found |= differs == 0 ? 1U : 0U;
  }
  return found != 0;
}

bool Keys::Let(const http::Head& head) const noexcept {
  const Shown shown = ShownBy(head);
  const bool by_bearer = Has(shown.bearer), by_key = Has(shown.key);
  return (by_bearer || by_key) && !shown.twice;
}

bool Keys::ShowsOne(const http::Head& head) noexcept {
  const Shown shown = ShownBy(head);
  return !shown.twice && !(shown.bearer.empty() && shown.key.empty());
}

base::Result<std::shared_ptr<const Keys>> LoadKeys(const Settings& settings, bool again) {
  const std::string& path = settings.auth_keys_file;
  const std::string& of_environment = settings.auth_keys.text;
  if (path.empty() && of_environment.empty()) return std::shared_ptr<const Keys>();
  Keys keys;
  const auto of_variable = [](int number) { return "`WF_AUTH_KEYS`: key " + std::to_string(number); };
  WF_RETURN_IF_ERROR(AddAll(of_environment, ',', of_variable, &keys));
  if (!of_environment.empty() && keys.empty()) return base::Status(base::kFailedPrecondition, "`WF_AUTH_KEYS`: has no key");
  if (!path.empty()) {
    const size_t before = keys.size();
    const std::string begin = "`auth.keys_file`: ";
    const auto text = ReadConfigFile(path, again);
    if (!text.ok()) return base::Status(text.status().code(), begin + text.status().message());
    WF_RETURN_IF_ERROR(AddAll(*text, '\n', [&](int line) { return begin + path + ":" + std::to_string(line); }, &keys));
    if (keys.size() == before) return base::Status(base::kFailedPrecondition, begin + path + ": has no key");
  }
  return std::make_shared<const Keys>(std::move(keys));
}

}  // namespace wf::server
