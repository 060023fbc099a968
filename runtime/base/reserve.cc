#include "runtime/base/reserve.h"

#include <malloc.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "runtime/base/pages.h"

namespace wf::base {

namespace {
constexpr uintptr_t kOfMalloc = 1;  // of a piece: else of mmap

// Pages, for a thread that malloc had no arena for maps even what is small; where there are none, of malloc, which may have kept a lot. 0:
// there is nothing.
uintptr_t TakePiece() {
  if (void* const pages = MapPages(Reserve::kPieceBytes); pages != nullptr) return reinterpret_cast<uintptr_t>(pages);
  void* const memory = ::operator new(Reserve::kPieceBytes, std::nothrow);
  return memory == nullptr ? 0 : reinterpret_cast<uintptr_t>(memory) | kOfMalloc;
}

void FreePiece(uintptr_t piece) {
  void* const memory = reinterpret_cast<void*>(piece & ~kOfMalloc);
  if ((piece & kOfMalloc) != 0) return ::operator delete(memory);
  munmap(memory, Reserve::kPieceBytes);
}

// What one call takes.
constexpr size_t kMargin = size_t{1} << 20;

bool HasMargin(size_t beside) {
  void* const pages = MapPages(kMargin + beside);
  if (pages != nullptr) return munmap(pages, kMargin + beside) == 0;
  void* const memory = ::operator new(kMargin + beside, std::nothrow);  // that malloc has kept
  ::operator delete(memory);
  return memory != nullptr;
}
}  // namespace

// An arena of a thread would take 64 MiB of addresses that are few.
bool Reserve::Keep() noexcept {
  if (MostAddresses() != SIZE_MAX) mallopt(M_ARENA_MAX, 1);
  return Fill();
}

// The second half is not taken from those who work.
bool Reserve::Fill() noexcept {
  for (auto& piece : kept_) {
    if (piece.load(std::memory_order_relaxed) != 0) continue;
    if (left_ >= kPieces / 2 && !HasMargin(kPieceBytes)) break;
    const uintptr_t taken = TakePiece();
    if (taken == 0) break;
    ++left_;  // before whoever needs the piece may have it
    piece.store(taken);
  }
  return left_ >= kPieces / 2;
}

bool Reserve::GivePiece() noexcept {
  for (auto& piece : kept_) {
    const uintptr_t given = piece.exchange(0);
    if (given == 0) continue;
    --left_;
    FreePiece(given);
    return true;
  }
  return false;
}

bool Reserve::MakeMargin() noexcept {
  while (!HasMargin(0))
    if (left_ <= kPieces / 2 || !GivePiece()) return false;
  return true;
}

// Whoever is let in again takes memory first: without any beside the reserve the next one would be refused for it. A program that lives in
// what it has taken long since may need none, so that one is tried all the same, now and then.
bool Reserve::Refill() noexcept {
  if (!Fill() || !memory_is_short()) return false;
  if (!MakeMargin() && ++calm_looks_ < kCalmLooks) return false;
  calm_looks_ = 0;
  return short_.exchange(false);
}

bool Reserve::MayFail() noexcept { return says_ == Says::kMayFail || (says_ == Says::kNothing && gettid() != getpid()); }

// Who is refused is to be told, for which there may be no memory either.
void Reserve::NoteFailed(size_t bytes) noexcept {
  if (bytes > kMargin) return;
  calm_looks_ = 0;
  short_.store(true);
  if (left_ > kPieces / 2) GivePiece();
}

// At the start nobody else will give memory back: two more tries are all there is.
void Reserve::MakeRoom(unsigned failed) noexcept {
  const bool serves = serves_.load(std::memory_order_relaxed);
  calm_looks_ = 0;
  short_.store(true);
  if (GivePiece()) return;
  if (failed < kPieces + (serves ? kMostWaits : 2)) {
    constexpr timespec kMillisecond = {0, 1'000'000};
    nanosleep(&kMillisecond, nullptr);
    return;
  }
  constexpr char kLine[] = "the process is out of memory, and its reserve is spent\n";
  const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  static_cast<void>(written);
  if (!serves) _exit(1);
  std::abort();
}

}  // namespace wf::base
