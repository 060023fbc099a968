#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/scratch.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

constexpr int64_t kNowhere = -1;

// What was read so far, as a way down a tree: the same text is the same node.
struct Prefix {
  int64_t parent, token, first_child, next_sibling, length;
};

// A prefix that is followed: how likely it is with a blank at its end, and without.
struct Beam {
  int64_t prefix;
  double with_blank, without;
  double total() const { return with_blank + without; }
};

// A beam of the next step: `from` stays as it is, or `token` is read behind it.
struct Successor {
  int64_t from, token;
  double with_blank, without;
  double total() const { return with_blank + without; }
  bool operator<(const Successor& other) const {  // the likelier first: a heap then has the least likely in front
    if (total() != other.total()) return total() > other.total();
    return from != other.from ? from < other.from : token < other.token;
  }
};

// Hannun and others, First-Pass Large Vocabulary Continuous Speech Recognition using Bi-Directional Recurrent DNNs, without a language
// model. Probabilities are kept as they are, times a power of two.
class BeamSearch {
 public:
  BeamSearch(wf_ctx* ctx, const wf_tensor& scores, int64_t width, int64_t blank)
      : ctx_(ctx), scores_(scores), classes_(scores.dim[1]), width_(width), blank_(blank), prefixes_(ctx) {}

  // False when the memory is spent or the request abandoned.
  bool Run() {
    if (!New(beams_, width_) || !New(kept_, width_ + 1) || !New(is_followed_, classes_)) return false;
    if (!prefixes_.Push({kNowhere, kNowhere, kNowhere, kNowhere, 0})) return false;
    beams_[0] = {0, 1, 0};
    n_beams_ = 1;
    std::fill_n(is_followed_, classes_, uint8_t{0});
    for (int64_t step = 0; step < scores_.dim[0]; ++step) {
      if (!Advance(static_cast<const float*>(scores_.data) + step * scores_.stride[0]) || !Follow()) return false;
    }
    return true;
  }

  std::span<const Beam> beams() const { return {beams_, static_cast<size_t>(n_beams_)}; }
  const Prefix& prefix(const Beam& beam) { return At(beam.prefix); }
  double LogOf(const Beam& beam) const { return std::log(beam.total()) + static_cast<double>(exponent_) * std::numbers::ln2; }

  bool Read(const Beam& beam, wf_tensor* tokens) {
    const int64_t length = prefix(beam).length;
    if (!AllocateTensor(ctx_, WF_I64, {&length, 1}, tokens)) return false;
    int64_t* const out = static_cast<int64_t*>(tokens->data);
    int64_t at = beam.prefix;
    for (int64_t i = length; i-- > 0; at = At(at).parent) out[i] = At(at).token;
    return true;
  }

 private:
  template <typename T>
  bool New(T*& memory, int64_t count) {
    memory = static_cast<T*>(wf_alloc(ctx_, static_cast<uint64_t>(count) * sizeof(T), alignof(T)));
    return memory != nullptr;
  }

  Prefix& At(int64_t prefix) { return prefixes_[static_cast<uint64_t>(prefix)]; }

  static double Probability(float score) { return score > 0 ? static_cast<double>(std::min(score, std::numeric_limits<float>::max())) : 0; }

  // How likely `token` is read behind a beam: a second one of the same class only behind a blank.
  double Behind(const Beam& beam, int64_t token, const float* scores) {
    return Probability(scores[token]) * (prefix(beam).token == token ? beam.with_blank : beam.total());
  }

  bool Advance(const float* scores) {
    n_kept_ = 0;
    for (int64_t i = 0; i < n_beams_; ++i) {
      if (Stopped(ctx_)) return false;
      const Beam& beam = beams_[i];
      Successor stays{i, kNowhere, Probability(scores[blank_]) * beam.total(), 0};
      if (prefix(beam).token != kNowhere) stays.without = Probability(scores[prefix(beam).token]) * beam.without;
      for (int64_t j = 0; j < n_beams_; ++j) {
        if (beams_[j].prefix == prefix(beam).parent) stays.without += Behind(beams_[j], prefix(beam).token, scores);
        if (prefix(beams_[j]).parent == beam.prefix) is_followed_[prefix(beams_[j]).token] = 1;
      }
      Keep(stays);
      for (int64_t token = 0; token < classes_; ++token) {
        if (token != blank_ && is_followed_[token] == 0) Keep({i, token, 0, Behind(beam, token, scores)});
        is_followed_[token] = 0;
      }
    }
    return true;
  }

  void Keep(const Successor& successor) {
    if (!(successor.total() > 0) || (n_kept_ == width_ && !(successor < kept_[0]))) return;
    kept_[n_kept_++] = successor;
    std::push_heap(kept_, kept_ + n_kept_);
    if (n_kept_ <= width_) return;
    std::pop_heap(kept_, kept_ + n_kept_);
    --n_kept_;
  }

  // The successors that are kept become the beams, best first; the best is scaled to 0.5..1. False when the memory is spent.
  bool Follow() {
    std::sort_heap(kept_, kept_ + n_kept_);
    for (int64_t i = 0; i < n_kept_; ++i) {
      const int64_t prefix = beams_[kept_[i].from].prefix;
      kept_[i].from = kept_[i].token == kNowhere ? prefix : Child(prefix, kept_[i].token);
      if (kept_[i].from == kNowhere) return false;
    }
    const int shift = n_kept_ == 0 ? 0 : -std::ilogb(kept_[0].total()) - 1;
    exponent_ -= shift;
    for (int64_t i = 0; i < n_kept_; ++i) {
      beams_[i] = {kept_[i].from, std::ldexp(kept_[i].with_blank, shift), std::ldexp(kept_[i].without, shift)};
    }
    n_beams_ = n_kept_;
    return true;
  }

  // kNowhere when the memory is spent.
  int64_t Child(int64_t parent, int64_t token) {
    for (int64_t child = At(parent).first_child; child != kNowhere; child = At(child).next_sibling) {
      if (At(child).token == token) return child;
    }
    const auto fresh = static_cast<int64_t>(prefixes_.size());
    if (!prefixes_.Push({parent, token, kNowhere, At(parent).first_child, At(parent).length + 1})) return kNowhere;
    return At(parent).first_child = fresh;
  }

  wf_ctx* const ctx_;
  const wf_tensor& scores_;
  const int64_t classes_, width_, blank_;
  Scratch<Prefix> prefixes_;
  int64_t n_beams_ = 0, n_kept_ = 0, exponent_ = 0;
  Beam* beams_ = nullptr;
  Successor* kept_ = nullptr;
  uint8_t* is_followed_ = nullptr;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_ctc_beam(wf_ctx* ctx, const wf_tensor* scores, const int64_t* width, const int64_t* blank,
                                 wf_list* readings) noexcept {
  using namespace wf::nodes;
  const int64_t classes = scores->dim[1];
  if (*width < 1 || *width > WF_MAX_BEAMS)
    return Fail(ctx, wf::code::kType, "ctc_beam with %lld beams, wanted 1..%d", static_cast<long long>(*width), WF_MAX_BEAMS);
  if (*blank < 0 || *blank >= classes)
    return Fail(ctx, wf::code::kIndex, "blank %lld of %lld classes", static_cast<long long>(*blank), static_cast<long long>(classes));
  BeamSearch search(ctx, *scores, *width, *blank);
  if (!search.Run()) return WF_FAILED;
  const auto beams = search.beams();
  auto* const out = static_cast<wf_reading*>(wf_alloc(ctx, (beams.size() + 1) * sizeof(wf_reading), alignof(wf_reading)));
  if (out == nullptr) return WF_FAILED;
  for (size_t i = 0; i < beams.size(); ++i) {
    if (!search.Read(beams[i], &out[i].tokens)) return WF_FAILED;
    out[i].score = static_cast<float>(search.LogOf(beams[i]));
  }
  *readings = {out, beams.size()};
  return 0;
}
