#pragma once

#include <cstddef>
#include <new>

namespace wf::base {

// What is to be done when the thread that asks ends, the last asked for first. Not of the main thread, which ends with the process.
struct ThreadEnd {
  void (*run)(ThreadEnd& end) noexcept;
  ThreadEnd* next;
};
void AtThreadEnd(ThreadEnd& end) noexcept;

// A T of every thread, made when the thread first asks for it and destroyed when it ends; to be declared `constinit thread_local`. A plain
// thread_local will not do where T has a destructor: the C library allocates to remember that, and ends the process where it finds no
// memory.
// Thread: confined to its own.   Errors: none.   Cost: a test; no allocation of its own.
template <typename T>
class PerThread {
 public:
  constexpr PerThread() = default;
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  T& operator*() noexcept {
    if (!made_) [[unlikely]]
      Make();
    return value();
  }
  T* operator->() noexcept { return &**this; }
  T* IfMade() noexcept { return made_ ? &value() : nullptr; }  // null: the thread has not asked yet

 private:
  struct End : ThreadEnd {
    PerThread* of;
  };

  T& value() noexcept { return *std::launder(reinterpret_cast<T*>(room_)); }

  void Make() noexcept {
    new (room_) T;
    made_ = true;
    end_.of = this;
    end_.run = [](ThreadEnd& end) noexcept {
      PerThread& self = *static_cast<End&>(end).of;
      self.made_ = false;
      self.value().~T();
    };
    AtThreadEnd(end_);
  }

  End end_ = {};
  bool made_ = false;
  alignas(T) std::byte room_[sizeof(T)] = {};
};

}  // namespace wf::base
