#include "tests/unit/support/sim_faults.h"

#include <cstddef>
#include <new>

namespace {

thread_local const std::function<bool()>* armed = nullptr;

bool FailsNow() { return armed != nullptr && (*armed)(); }

}  // namespace

// By the linker's --wrap; __real_ is the C library's, or a sanitizer's.
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_realloc(void* old, size_t bytes);
void* __wrap_malloc(size_t bytes) { return FailsNow() ? nullptr : __real_malloc(bytes); }
void* __wrap_realloc(void* old, size_t bytes) { return FailsNow() ? nullptr : __real_realloc(old, bytes); }
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return FailsNow() ? nullptr : ::operator new(bytes); }

namespace wf::test {

FailingAllocations::FailingAllocations(const std::function<bool()>* fails) : before_(armed) { armed = fails; }
FailingAllocations::~FailingAllocations() { armed = before_; }

}  // namespace wf::test
