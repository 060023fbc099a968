#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WF_SEES_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WF_SEES_POISON 1
#endif

#ifdef WF_SEES_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace wf::base {

// Memory that is kept for later use: in a build with the address sanitizer whoever still reads it is told, elsewhere nothing happens.
inline void Poison([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef WF_SEES_POISON
  __asan_poison_memory_region(memory, bytes);
#endif
}
inline void Unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef WF_SEES_POISON
  __asan_unpoison_memory_region(memory, bytes);
#endif
}
#ifdef WF_SEES_POISON
inline constexpr bool kSeesPoison = true;
#else
inline constexpr bool kSeesPoison = false;
#endif

}  // namespace wf::base
