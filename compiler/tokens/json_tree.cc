#include "compiler/tokens/json_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace wf::tokens {

using base::Result;
using base::Status;
using source::JsonScanner;

namespace {

constexpr int kMostLevels = 32;

bool IsNumber(std::string_view digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && digits[0] != '+' && digits[0] != '.';
}

class TreeReader {
 public:
  TreeReader(JsonScanner& scanner, size_t& left) : json_(scanner), left_(left) {}

  Status Read(Json& out, int level) {
    if (level > kMostLevels || left_ == 0) return {base::kResourceExhausted, "it nests too deep or has too many parts"};
    --left_;
    switch (json_.Peek()) {
      case '{':
        out.kind = Json::Kind::kObject;
        return json_.Object([&](std::string name) {
          out.keys.push_back(std::move(name));
          return Read(out.items.emplace_back(), level + 1);
        });
      case '[':
        out.kind = Json::Kind::kArray;
        return json_.Array([&] { return Read(out.items.emplace_back(), level + 1); });
      case '"':
        out.kind = Json::Kind::kText;
        return json_.String(out.text);
      default:
        return ReadWord(out);
    }
  }

 private:
  Status ReadWord(Json& out) {
    if (json_.TakeWord("null")) return Status::Ok();
    out.is_true = json_.TakeWord("true");
    if (out.is_true || json_.TakeWord("false")) {
      out.kind = Json::Kind::kBool;
      return Status::Ok();
    }
    const std::string_view digits = json_.Digits();
    if (digits.empty() || !IsNumber(digits)) return json_.Wrong("a value");
    out.kind = Json::Kind::kNumber;
    out.text = digits;
    json_.Skip(digits.size());
    return Status::Ok();
  }

  JsonScanner& json_;
  size_t& left_;
};

// Ids stand in 32 bits, the largest of which is no id; a reader of `i32` must not see a negative one.
std::optional<uint32_t> IdOf(std::string_view digits) {
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || id > INT32_MAX) return std::nullopt;
  return id;
}

}  // namespace

const Json* Json::Find(std::string_view name) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == name) return items[i].kind == Kind::kNull ? nullptr : &items[i];
  }
  return nullptr;
}

std::string_view Json::TextOf(std::string_view name) const {
  const Json* found = Find(name);
  return found != nullptr && found->kind == Kind::kText ? std::string_view(found->text) : "";
}

bool Json::BoolOf(std::string_view name, bool missing) const {
  const Json* found = Find(name);
  return found != nullptr && found->kind == Kind::kBool ? found->is_true : missing;
}

std::optional<uint32_t> Json::id() const { return kind == Kind::kNumber ? IdOf(text) : std::nullopt; }

Result<Json> ReadTree(JsonScanner& scanner, size_t& left) {
  Json tree;
  WF_RETURN_IF_ERROR(TreeReader(scanner, left).Read(tree, 0));
  return tree;
}

Status ReadId(JsonScanner& scanner, uint32_t& id) {
  const std::string_view digits = scanner.Digits();
  const auto found = IdOf(digits);
  if (!found) return scanner.Wrong("the id of a token");
  id = *found;
  scanner.Skip(digits.size());
  return Status::Ok();
}

}  // namespace wf::tokens
