#pragma once

#include <atomic>

namespace wf::base {

// Something that another thread hands to a loop. Embedded in what is handed over, so that posting allocates nothing.
// Thread: belongs to the sender until Post, to the loop afterwards.
class Message {
 public:
  virtual ~Message() = default;
  // On the loop that owns the mailbox. May post again, or free the message.
  virtual void Deliver() noexcept = 0;

  Message* next_message = nullptr;  // of the mailbox or of a chain
};

// Interrupts the sleep of the thread that owns a mailbox.
// Thread: thread-safe.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void Wake() noexcept = 0;
};

// Many senders, one receiver, no lock. The receiver is woken only when it has said that it is about to sleep. A sender may still be inside
// Post when its message has been delivered: the mailbox outlives every thread that posts, not only every message.
// Thread: Post and PostChain thread-safe; the rest by the owner.   Borrows: waker.
// Bounds: none of its own; every message is paid for by what embeds it.   Cost: Post one compare-and-swap; no allocation.
class Mailbox {
 public:
  explicit Mailbox(Waker& waker) : waker_(waker) {}

  void Post(Message& message) noexcept { PostChain(message, message); }

  // Messages linked oldest to newest through next_message; they arrive together with one wake.
  void PostChain(Message& oldest, Message& newest) noexcept {
    // The stack holds newest first, so a chain is turned around before it is pushed.
    Message* turned = nullptr;
    for (Message* at = &oldest;;) {
      Message* const following = at == &newest ? nullptr : at->next_message;
      at->next_message = turned;
      turned = at;
      if (following == nullptr) break;
      at = following;
    }
    Message* top = top_.load(std::memory_order_relaxed);
    do {
      oldest.next_message = top;
    } while (!top_.compare_exchange_weak(top, &newest, std::memory_order_seq_cst, std::memory_order_relaxed));
    if (asleep_.load(std::memory_order_seq_cst) && asleep_.exchange(false)) waker_.Wake();
  }

  bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

  // Delivers everything that has arrived, oldest first; what arrives meanwhile waits for the next call. True if there was any.
  bool Drain() noexcept {
    if (empty()) return false;
    Message* newest = top_.exchange(nullptr, std::memory_order_acquire);
    Message* oldest = nullptr;
    while (newest != nullptr) {
      Message* const older = newest->next_message;
      newest->next_message = oldest;
      oldest = newest;
      newest = older;
    }
    while (oldest != nullptr) {
      Message* const following = oldest->next_message;
      oldest->Deliver();
      oldest = following;
    }
    return true;
  }

  // Publishes that the owner is about to sleep. False: something has come, drain first.
  bool PrepareToSleep() noexcept {
    asleep_.store(true, std::memory_order_seq_cst);
    if (top_.load(std::memory_order_seq_cst) == nullptr) return true;
    asleep_.store(false, std::memory_order_relaxed);
    return false;
  }

  void Awake() noexcept { asleep_.store(false, std::memory_order_relaxed); }

 private:
  Waker& waker_;
  std::atomic<Message*> top_{nullptr};
  std::atomic<bool> asleep_{false};
};

}  // namespace wf::base
