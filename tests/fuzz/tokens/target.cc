#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tokens/read_tokenizer.h"
#include "compiler/tokens/write_table.h"
#include "runtime/base/text.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace {

using wf::nodes::FakeJob;
using wf::nodes::View;

constexpr std::string_view kTableBegins = "wtk1", kText = "It's [CLS] \u00c9 e\u0301  \u4f60\u597d <s> 12 ab";

// False: it has failed, and has said why.
bool Encode(std::string_view table, std::string_view text, decltype(&wf_n_bpe) native) {
  FakeJob job;
  job.budget = uint64_t{16} << 20;
  const wf_bytes bytes = View(text), by = View(table);
  const wf_optional_i64 most{100'000, 1};
  const uint8_t special = 1;
  wf_tensor ids{};
  if (native(&job.ctx, &bytes, &by, &most, &special, &ids) != 0) {
    if (job.code == 0 || job.message.empty()) std::abort();
    return false;
  }
  volatile int64_t sum = 0;
  for (int64_t i = 0; i < ids.dim[0]; ++i) sum = sum + static_cast<const int64_t*>(ids.data)[i];
  return true;
}

decltype(&wf_n_bpe) NativeOf(wf::abi::TokenModel model) {
  switch (model) {
    case wf::abi::TokenModel::kWordPiece:
      return wf_n_wordpiece;
    case wf::abi::TokenModel::kBpe:
      return wf_n_bpe;
    case wf::abi::TokenModel::kUnigram:
      break;
  }
  return wf_n_unigram;
}

// Whatever the ids, what comes back is a text.
void Decode(std::string_view table, std::vector<int64_t> ids) {
  FakeJob job;
  job.budget = uint64_t{16} << 20;
  const wf_bytes by = View(table);
  const wf_tensor some = wf::nodes::Vector(ids, WF_I64);
  const uint8_t special = 1;
  wf_bytes text{};
  if (wf_n_detokenise(&job.ctx, &some, &by, &special, &text) != 0) {
    if (job.code == 0 || job.message.empty()) std::abort();
    return;
  }
  if (!wf::base::IsUtf8({reinterpret_cast<const char*>(text.ptr), text.len})) std::abort();
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with(kTableBegins)) {
    for (const auto native : {wf_n_wordpiece, wf_n_bpe, wf_n_unigram}) Encode(input, kText, native);
    Decode(input, {0, 1, 2, 3, 4, 5, 6, 7, 100, 30'000, -1});
    return 0;
  }
  const size_t end = input.find('\0');
  const std::string_view file = input.substr(0, end), text = end == input.npos ? kText : input.substr(end + 1);
  if (!wf::base::IsUtf8(file) || !wf::base::IsUtf8(text)) return 0;
  const auto read = file.starts_with('{') ? wf::tokens::ReadTokenizer(file) : wf::tokens::ReadVocabulary(file);
  if (!read.ok()) {
    if (read.status().message().empty()) std::abort();
    return 0;
  }
  const auto table = wf::tokens::WriteTable(*read);
  if (!table.ok()) std::abort();
  const auto native = NativeOf(read->model);
  Encode(*table, text, native);
  for (const auto other : {wf_n_wordpiece, wf_n_bpe, wf_n_unigram}) {
    if (other != native && Encode(*table, text, other)) std::abort();
  }
  Decode(*table, {0, 1, 2, 3, 4, 5, 6, 7, 100, 30'000, -1});
  return 0;
}
