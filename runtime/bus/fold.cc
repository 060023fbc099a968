// The memory of folds, which generated code asks for turn by turn.

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/abi/blocks.h"
#include "runtime/abi/plan.h"
#include "runtime/base/load.h"
#include "runtime/bus/context.h"

namespace wf::bus {
namespace {

constexpr uint64_t kTurnsBytes = uint64_t{64} << 10;  // that turns may allocate before anything is given back, and
constexpr uint64_t kLeftBytes = 1024;                 // that a fold may leave behind: much less would cost more than it saves
constexpr uint64_t kSmallBytes = 64;                  // blocks so small are not worth to be known: who shares them gets copies
constexpr uint64_t kTogetherBytes = uint64_t{64} << 10;

struct FoldState {
  Arena::Mark from;
  uint64_t begun;  // bytes in use before the first turn,
  uint64_t kept;   // after the accumulator moved last,
  uint64_t most;   // and at most before it moves again
};
static_assert(sizeof(FoldState) == sizeof(wf_fold) && alignof(FoldState) == alignof(wf_fold));

// So much that moving the accumulator costs little beside making it, and that a text that has moved, twice as long before it grows in
// place again (Arena::Grow), comes to that; less where the request has little left.
uint64_t RoomFor(const Arena& arena, uint64_t accumulator_bytes) {
  const auto left = static_cast<uint64_t>(std::max<int64_t>(arena.left_bytes(), 0));
  return std::max(kTurnsBytes, std::min(4 * accumulator_bytes, left / 4));
}

// Copies what was allocated since a moment, each block once, and leaves the rest where it is.
// Thread: the job's.   Borrows: all arenas.   Cost: the copies; a block is found in the logarithm of the chunks.
class BlockCopier final : public abi::BlockMover {
 public:
  struct Arenas {
    Arena &from, &to, &aside;  // aside: of what only the copying needs
  };
  BlockCopier(const Arenas& arenas, const Arena::Mark& since) : arenas_(arenas), count_(arenas.from.CountSince(since)) {
    stretches_ = static_cast<Arena::Stretch*>(arenas.aside.Allocate(count_ * sizeof(Arena::Stretch), alignof(Arena::Stretch)));
    if (stretches_ == nullptr) return;
    arenas.from.ListSince(since, stretches_);
    std::sort(stretches_, stretches_ + count_, [](const auto& a, const auto& b) { return a.begin < b.begin; });
    last_ = stretches_;
  }
  bool is_ready() const { return stretches_ != nullptr; }
  // Chunks with hardly more than a block that a copy would be of stay, and the block in them.
  void RetainChunks() { retains_ = true; }
  void ReleaseChunks() {
    for (size_t i = 0; i < count_; ++i)
      if (stretches_[i].chunk != nullptr) stretches_[i].chunk->is_retained = false;
  }

  Moved Move(void* block, uint64_t bytes, uint64_t align, bool points) override {
    const Arena::Stretch* const stretch = Find(reinterpret_cast<uintptr_t>(block));
    if (stretch == nullptr || (!points && Retains(*stretch, block, bytes))) return {block, false};
    const bool is_small = bytes <= kSmallBytes;
    if (!is_small) {
      const Copy* const known = Known(block);
      if (known != nullptr && known->bytes >= bytes) return {known->to, false};
    }
    void* const copy = arenas_.to.Allocate(std::max<uint64_t>(bytes, 1), is_small ? align : uint64_t{WF_ALIGN});
    if (copy == nullptr || (!is_small && !Remember({block, copy, bytes}))) return {};
    if (bytes != 0) std::memcpy(copy, block, bytes);
    return {copy, points};
  }

 private:
  struct Copy {
    const void* from;
    void* to;
    uint64_t bytes;
  };

  const Arena::Stretch* Find(uintptr_t at) {
    const auto holds = [at](const Arena::Stretch& stretch) { return at >= stretch.begin && at < stretch.end; };
    if (holds(*last_)) return last_;
    Arena::Stretch* const after =
        std::upper_bound(stretches_, stretches_ + count_, at, [](uintptr_t address, const auto& other) { return address < other.begin; });
    if (after == stretches_ || !holds(after[-1])) return nullptr;
    return last_ = after - 1;
  }

  bool Retains(const Arena::Stretch& stretch, const void* block, uint64_t bytes) const {
    if (!retains_ || stretch.chunk == nullptr) return false;
    const bool fills = block == stretch.chunk + 1 && bytes >= kTurnsBytes / 2 && bytes >= stretch.chunk->bytes / 8 * 3;
    return stretch.chunk->is_retained |= fills;
  }

  // ---- copies, by where they are from: a table of at most half as many entries as places ----
  Copy& Place(const void* from) const {
    size_t at = (reinterpret_cast<uintptr_t>(from) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - std::countr_zero(places_));
    while (copies_[at].from != nullptr && copies_[at].from != from) at = (at + 1) & (places_ - 1);
    return copies_[at];
  }
  const Copy* Known(const void* from) const {
    if (places_ == 0) return nullptr;
    const Copy& copy = Place(from);
    return copy.from == nullptr ? nullptr : &copy;
  }
  bool Remember(const Copy& copy) {
    if (2 * (n_copies_ + 1) > places_ && !Widen()) return false;
    Copy& place = Place(copy.from);
    if (place.from == nullptr) ++n_copies_;
    place = copy;
    return true;
  }
  bool Widen() {
    const size_t n_old = places_, wanted = std::max<size_t>(16, n_old * 2);
    auto* const table = static_cast<Copy*>(arenas_.aside.Allocate(wanted * sizeof(Copy), alignof(Copy)));
    if (table == nullptr) return false;
    std::fill_n(table, wanted, Copy{});
    const Copy* const old = std::exchange(copies_, table);
    places_ = wanted;
    for (size_t i = 0; i < n_old; ++i)
      if (old[i].from != nullptr) Place(old[i].from) = old[i];
    return true;
  }

  const Arenas arenas_;
  const size_t count_;
  Arena::Stretch *stretches_ = nullptr, *last_ = nullptr;
  bool retains_ = false;
  Copy* copies_ = nullptr;
  size_t places_ = 0, n_copies_ = 0;
};

struct FoldValue {
  const wf_type* types;
  uint32_t type;
  void* value;
};

// The copies lie in `to`, closed up; where they are few they go back to where the turns began, so that nothing lies between.
void TakeBack(Arena& arena, Arena& to, const FoldValue& accumulator) {
  if (to.used_bytes() <= kTogetherBytes) {
    Arena aside;
    arena.OpenBeside(aside, 0);
    BlockCopier copier({to, arena, aside}, Arena::Mark{});
    if (copier.is_ready() && abi::MoveBlocks(accumulator.types, accumulator.type, accumulator.value, copier)) return;
  }
  arena.Splice(to);
}

bool KeepFold(Arena& arena, const FoldState& state, const FoldValue& accumulator) {
  Arena to, aside;
  arena.OpenBeside(to, std::min<uint64_t>(state.kept - state.begun, kTogetherBytes));
  arena.OpenBeside(aside, 0);
  BlockCopier copier({arena, to, aside}, state.from);
  if (!copier.is_ready()) return false;
  copier.RetainChunks();
  if (!abi::MoveBlocks(accumulator.types, accumulator.type, accumulator.value, copier)) {
    copier.ReleaseChunks();
    return false;
  }
  arena.GiveBackSince(state.from);
  if (to.held_bytes() != 0) TakeBack(arena, to, accumulator);
  return true;
}

}  // namespace
}  // namespace wf::bus

using wf::bus::Arena;
using wf::bus::Context;
using wf::bus::FoldState;

extern "C" {

wf_code wf_fold_begin(wf_ctx* ctx, wf_fold* fold) noexcept {
  const Arena& arena = *Context::Of(ctx).arena;
  const uint64_t used = arena.used_bytes();
  const FoldState state{.from = arena.Now(), .begun = used, .kept = used, .most = used + wf::bus::RoomFor(arena, 0)};
  std::memcpy(fold, &state, sizeof state);
  return 0;
}

int32_t wf_fold_is_full(wf_ctx* ctx, const wf_fold* fold, uint32_t ended) noexcept {
  const auto state = wf::base::Load<FoldState>(fold);
  const uint64_t used = Context::Of(ctx).arena->used_bytes();
  if (ended == 0) return used > state.most;
  return used > state.kept + wf::bus::kLeftBytes + (state.kept - state.begun) / 4;
}

int32_t wf_fold_keep(wf_ctx* ctx, wf_fold* fold, const wf_type* types, uint32_t type, void* accumulator) noexcept {
  Arena& arena = *Context::Of(ctx).arena;
  auto state = wf::base::Load<FoldState>(fold);
  const bool moved = wf::bus::KeepFold(arena, state, {types, type, accumulator});
  state.kept = arena.used_bytes();
  state.most = state.kept + wf::bus::RoomFor(arena, state.kept - state.begun);
  std::memcpy(fold, &state, sizeof state);
  return moved;
}

}  // extern "C"
