#include <utility>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/normalise.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/text_result.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

using abi::TextStep;

// What no step changes stays where it is.
bool IsAsciiWithoutCapitals(std::string_view text) {
  for (const char c : text) {
    if (static_cast<uint8_t>(c) >= 0x80 || (c >= 'A' && c <= 'Z')) return false;
  }
  return true;
}

wf_code Change(wf_ctx* ctx, const TextStep* steps, const wf_bytes* text, wf_bytes* result) {
  std::string_view rest = abi::View(*text);
  if (IsAsciiWithoutCapitals(rest)) {
    *result = *text;
    return 0;
  }
  Normaliser normaliser(ctx, steps);
  TextBuilder out(ctx);
  if (!out.Reserve(rest.size() + rest.size() / 8)) return WF_FAILED;
  while (!rest.empty()) {
    if (Stopped(ctx)) return WF_FAILED;
    const size_t length = LengthOfBlock(rest);
    std::string_view block;
    if (!normaliser.Run(rest.substr(0, length), Normaliser::Lead::kNone, &block) || !out.Add(block)) return WF_FAILED;
    rest.remove_prefix(length);
  }
  *result = out.Take();
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_normalise(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* form, wf_bytes* result) noexcept {
  using wf::abi::TextStep;
  static constexpr TextStep kNfc[] = {TextStep::kDecompose, TextStep::kCompose, TextStep::kEnd};
  static constexpr TextStep kNfkc[] = {TextStep::kDecomposeCompat, TextStep::kCompose, TextStep::kEnd};
  static constexpr TextStep kNfd[] = {TextStep::kDecompose, TextStep::kEnd};
  static constexpr TextStep kNfkd[] = {TextStep::kDecomposeCompat, TextStep::kEnd};
  const std::string_view wanted = wf::abi::View(*form);
  for (const auto& [name, steps] :
       {std::pair<std::string_view, const TextStep*>("NFC", kNfc), {"NFKC", kNfkc}, {"NFD", kNfd}, {"NFKD", kNfkd}}) {
    if (name == wanted) return wf::nodes::Change(ctx, steps, text, result);
  }
  return wf::nodes::Fail(ctx, wf::code::kType, "a form of Unicode is NFC, NFD, NFKC or NFKD");
}

extern "C" wf_code wf_n_lower(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  using wf::abi::TextStep;
  static constexpr TextStep kSteps[] = {TextStep::kLowercase, TextStep::kEnd};
  return wf::nodes::Change(ctx, kSteps, text, result);
}

extern "C" wf_code wf_n_casefold(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  using wf::abi::TextStep;
  static constexpr TextStep kSteps[] = {TextStep::kCasefold, TextStep::kEnd};
  return wf::nodes::Change(ctx, kSteps, text, result);
}

extern "C" wf_code wf_n_strip_accents(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  using wf::abi::TextStep;
  static constexpr TextStep kSteps[] = {TextStep::kDecompose, TextStep::kDropNonspacing, TextStep::kCompose, TextStep::kEnd};
  return wf::nodes::Change(ctx, kSteps, text, result);
}
