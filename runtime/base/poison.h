#pragma once

#include <cstddef>

#ifdef WF_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace wf::base {

// Memory that is kept for later use: in a build with the address sanitizer whoever still reads it is told, elsewhere nothing happens.
inline void Poison([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef WF_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory, bytes);
#endif
}
inline void Unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef WF_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory, bytes);
#endif
}
#ifdef WF_ADDRESS_SANITIZER
inline constexpr bool kSeesPoison = true;
#else
inline constexpr bool kSeesPoison = false;
#endif

}  // namespace wf::base
