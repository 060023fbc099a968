#include "runtime/model/text_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/kernels/text/text.h"
#include "runtime/kernels/text/tokens.h"
#include "runtime/kernels/texts.h"
#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using kernels::InCase;

constexpr int64_t kElementsPerCheck = 1024;
constexpr std::string_view kSpace = " \t\n\v\f\r";

class TextPart : public Part {
 public:
  TextPart(const Program& program, size_t index, const PartLimits& limits)
      : Part({index, index + 1, {}, {}}), program_(program), node_(program.graph.nodes[index]), limits_(limits) {}

  Status Run(std::vector<Elements>& values) override {
    auto input = ElementsAt(program_, node_.in[0], values);
    const Status ran = input.ok() ? RunNode(*input, values) : input.status();
    return ran.ok() ? ran : Status(ran.code(), fmt::format("`{}`: {}: {}", program_.subject, node_.Describe(), ran.message()));
  }

 protected:
  virtual Status RunNode(const Elements& input, std::vector<Elements>& values) = 0;

  std::string_view TextAt(const Elements& elements, int64_t at) const {
    return limits_.texts->At(reinterpret_cast<const int64_t*>(elements.data.get())[at]);
  }
  Status NumberOf(std::string_view text, int64_t& number) const {
    number = limits_.texts->Number(text);
    return number >= 0 ? Status::Ok() : Status(base::kResourceExhausted, "its strings take more memory than a run may have");
  }
  // Result i of the node, whose elements are to be written, to `memory` where nobody reads it.
  Status Give(size_t i, kernels::TensorInfo info, std::vector<Elements>& values, std::shared_ptr<uint8_t>& memory) const {
    const auto bytes = onnx::LeastBytes({KnownType(info), onnx::Shape(info.dim.begin(), info.dim.end()), std::nullopt}, limits_.max_bytes);
    if (!bytes.ok()) return bytes.status();
    WF_RETURN_IF_ERROR(TakeCounted(limits_, *bytes, memory));
    if (i < node_.out.size() && node_.out[i] >= 0) values[static_cast<size_t>(node_.out[i])] = {std::move(info), memory};
    return Status::Ok();
  }
  Status Check(int64_t element) const { return element % kElementsPerCheck == 0 ? limits_.budget->Check() : Status::Ok(); }

  const Program& program_;
  const onnx::Node& node_;
  const PartLimits limits_;
};

std::string_view FirstOf(const onnx::Node& node, std::string_view attribute) {
  const onnx::Attribute* const found = node.Find(attribute);
  return found == nullptr || found->strings.empty() ? std::string_view() : std::string_view(found->strings[0]);
}

class SplitPart final : public TextPart {
 public:
  SplitPart(const Program& program, size_t index, const PartLimits& limits)
      : TextPart(program, index, limits), delimiter_(FirstOf(node_, "delimiter")), most_splits_(node_.Int("maxsplit", INT64_MAX)) {}

 private:
  // Calls f(part) for each part of the text, and gives how many there are.
  template <typename F>
  int64_t ForEachPart(std::string_view text, F f) const {
    int64_t count = 0;
    const auto give = [&](std::string_view part) {
      f(part);
      ++count;
    };
    if (!delimiter_.empty()) {
      for (size_t end; count < most_splits_ && (end = text.find(delimiter_)) != std::string_view::npos;) {
        give(text.substr(0, end));
        text.remove_prefix(end + delimiter_.size());
      }
      give(text);
      return count;
    }
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    while (!text.empty()) {
      const size_t end = count < most_splits_ ? std::min(text.find_first_of(kSpace), text.size()) : text.find_last_not_of(kSpace) + 1;
      give(text.substr(0, end));
      text.remove_prefix(end);
      text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    }
    return count;
  }

  Status RunNode(const Elements& input, std::vector<Elements>& values) override {
    const int64_t count = input.info.count();
    std::shared_ptr<uint8_t> counted, split;
    WF_RETURN_IF_ERROR(Give(1, InfoOf(WF_I64, input.info.dim), values, counted));
    auto* const counts = reinterpret_cast<int64_t*>(counted.get());
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i) {
      WF_RETURN_IF_ERROR(Check(i));
      counts[i] = ForEachPart(TextAt(input, i), [](std::string_view) {});
      most = std::max(most, counts[i]);
    }
    std::vector<int64_t> dim = input.info.dim;
    dim.push_back(most);
    WF_RETURN_IF_ERROR(Give(0, InfoOf(onnx::kStringType, std::move(dim)), values, split));
    auto* const parts = reinterpret_cast<int64_t*>(split.get());
    int64_t none = 0;
    WF_RETURN_IF_ERROR(NumberOf("", none));
    std::fill_n(parts, count * most, none);
    for (int64_t i = 0; i < count; ++i) {
      WF_RETURN_IF_ERROR(Check(i));
      int64_t* at = parts + i * most;
      Status status;
      ForEachPart(TextAt(input, i), [&](std::string_view part) {
        if (status.ok()) status = NumberOf(part, *at++);
      });
      WF_RETURN_IF_ERROR(status);
    }
    return Status::Ok();
  }

  const std::string_view delimiter_;
  const int64_t most_splits_;
};

class TokenPart final : public TextPart {
 public:
  TokenPart(const Program& program, size_t index, const PartLimits& limits, std::unique_ptr<kernels::Tokeniser> tokeniser)
      : TextPart(program, index, limits), tokeniser_(std::move(tokeniser)), pad_(FirstOf(node_, "pad_value")) {}

 private:
  Status RunNode(const Elements& input, std::vector<Elements>& values) override {
    const int64_t count = input.info.count();
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i) {
      WF_RETURN_IF_ERROR(Check(i));
      int64_t tokens = 0;
      tokeniser_->ForEach(TextAt(input, i), [&](std::string_view) { ++tokens; });
      most = std::max(most, tokens);
    }
    const bool is_marked = node_.Int("mark", 0) != 0 && most > 0;
    const int64_t width = most + (is_marked ? 2 : 0);
    std::vector<int64_t> dim = input.info.dim;
    dim.push_back(width);
    std::shared_ptr<uint8_t> memory;
    WF_RETURN_IF_ERROR(Give(0, InfoOf(onnx::kStringType, std::move(dim)), values, memory));
    auto* const tokens = reinterpret_cast<int64_t*>(memory.get());
    int64_t pad = 0;
    WF_RETURN_IF_ERROR(NumberOf(pad_, pad));
    std::fill_n(tokens, count * width, pad);
    for (int64_t i = 0; i < count; ++i) {
      WF_RETURN_IF_ERROR(Check(i));
      int64_t* at = tokens + i * width;
      Status status;
      const auto put = [&](std::string_view token) {
        if (status.ok()) status = NumberOf(token, *at++);
      };
      if (is_marked) put("\x02");
      tokeniser_->ForEach(TextAt(input, i), put);
      if (is_marked) put("\x03");
      WF_RETURN_IF_ERROR(status);
    }
    return Status::Ok();
  }

  const std::unique_ptr<kernels::Tokeniser> tokeniser_;
  const std::string_view pad_;
};

class NormaliserPart final : public TextPart {
 public:
  NormaliserPart(const Program& program, size_t index, const PartLimits& limits)
      : TextPart(program, index, limits),
        action_(node_.String("case_change_action", "NONE")),
        exact_(node_.Int("is_case_sensitive", 0) != 0) {
    for (const std::string& word : node_.Find("stopwords")->strings) stopwords_.push_back(exact_ ? word : InCase(word, false));
    std::sort(stopwords_.begin(), stopwords_.end());
  }

 private:
  bool IsDropped(std::string_view text) const {
    return std::binary_search(stopwords_.begin(), stopwords_.end(), exact_ ? std::string(text) : InCase(text, false));
  }

  Status RunNode(const Elements& input, std::vector<Elements>& values) override {
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < input.info.count(); ++i) {
      WF_RETURN_IF_ERROR(Check(i));
      const std::string_view text = TextAt(input, i);
      if (IsDropped(text)) continue;
      WF_RETURN_IF_ERROR(action_ == "NONE" ? NumberOf(text, kept.emplace_back())
                                           : NumberOf(InCase(text, action_ == "UPPER"), kept.emplace_back()));
    }
    if (kept.empty()) WF_RETURN_IF_ERROR(NumberOf("", kept.emplace_back()));  // so says the standard
    std::vector<int64_t> dim = input.info.dim;
    dim.back() = static_cast<int64_t>(kept.size());
    std::shared_ptr<uint8_t> memory;
    WF_RETURN_IF_ERROR(Give(0, InfoOf(onnx::kStringType, std::move(dim)), values, memory));
    std::copy(kept.begin(), kept.end(), reinterpret_cast<int64_t*>(memory.get()));
    return Status::Ok();
  }

  const std::string action_;
  const bool exact_;
  std::vector<std::string> stopwords_;  // in order
};

}  // namespace

bool IsOfTexts(const onnx::Node& node) {
  return node.op == onnx::Op::kStringSplit || node.op == onnx::Op::kMsTokenizer ||
         (node.op == onnx::Op::kStringNormalizer && node.Find("stopwords") != nullptr);
}

Result<std::unique_ptr<Part>> MakeTextPart(const Program& program, size_t index, const PartLimits& limits) {
  if (limits.texts == nullptr) return Status(base::kUnimplemented, "strings are not supported here");
  const onnx::Node& node = program.graph.nodes[index];
  if (node.op == onnx::Op::kMsTokenizer) {
    const onnx::Attribute* const separators = node.Find("separators");
    auto tokeniser = kernels::Tokeniser::Make(separators == nullptr ? std::span<const std::string>() : separators->strings,
                                              std::string(FirstOf(node, "tokenexp")), node.Int("mincharnum", 1));
    if (!tokeniser.ok())
      return Status(tokeniser.status().code(), fmt::format("`{}`: {}: {}", program.subject, node.Describe(), tokeniser.status().message()));
    return std::unique_ptr<Part>(std::make_unique<TokenPart>(program, index, limits, *std::move(tokeniser)));
  }
  if (node.op == onnx::Op::kStringSplit) return std::unique_ptr<Part>(std::make_unique<SplitPart>(program, index, limits));
  return std::unique_ptr<Part>(std::make_unique<NormaliserPart>(program, index, limits));
}

}  // namespace wf::model
