#include "runtime/base/mutex.h"
#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/onednn.h"

namespace wf::kernels::onednn {
namespace {

// oneDNN takes descriptions from its cache of primitives, too. One from there still points to attributes of the description that the cached
// primitive was first made from (2.6: brgemm_t::attr), which is long gone. That does no harm while the primitive is in the cache, where it
// is found; after the cache is emptied it would be generated anew, by freed memory: without the function behind it, or not at all. So the
// cache is emptied only while there is no description.   Thread: thread-safe.
class Descriptions {
 public:
  void Begin() {
    const base::MutexLock lock(mutex_);
    ++count_;
  }
  void End() {
    const base::MutexLock lock(mutex_);
    if (--count_ == 0 && waits_) Empty();
  }
  void EmptyCache() {
    const base::MutexLock lock(mutex_);
    waits_ = true;
    if (count_ == 0) Empty();
  }

 private:
  void Empty() WF_REQUIRES(mutex_) {
    waits_ = false;
    int capacity = 0;
    if (Load()->dnnl_get_primitive_cache_capacity(&capacity) != dnnl_success) return;
    (void)Load()->dnnl_set_primitive_cache_capacity(0);
    (void)Load()->dnnl_set_primitive_cache_capacity(capacity);
  }

  base::Mutex mutex_;
  int64_t count_ WF_GUARDED_BY(mutex_) = 0;   // and those that are being made
  bool waits_ WF_GUARDED_BY(mutex_) = false;  // the cache is to be emptied
};

Descriptions& All() {
  static Descriptions all;
  return all;
}

// While descriptions are asked for.
class Asking {
 public:
  Asking() { All().Begin(); }
  ~Asking() { All().End(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  PrimitiveDesc Keep(dnnl_primitive_desc_t desc) const {
    if (desc != nullptr) All().Begin();
    return PrimitiveDesc(desc);
  }
};

// Goes through the implementations of an operation, oneDNN's first in front, until `stop` says so of one, which is the result; null: of
// none.
template <typename Stop>
PrimitiveDesc FindDesc(const void* op_desc, const Attr& attr, Stop&& stop) {
  const Library& dnnl = *Load();
  const Asking asking;
  dnnl_primitive_desc_iterator_t each = nullptr;
  if (attr == nullptr || dnnl.dnnl_primitive_desc_iterator_create(&each, op_desc, attr.get(), dnnl.engine, nullptr) != dnnl_success)
    return nullptr;
  PrimitiveDesc found;
  do {
    PrimitiveDesc desc = asking.Keep(dnnl.dnnl_primitive_desc_iterator_fetch(each));
    if (desc == nullptr) break;
    if (stop(desc)) found = std::move(desc);
  } while (found == nullptr && dnnl.dnnl_primitive_desc_iterator_next(each) == dnnl_success);
  (void)dnnl.dnnl_primitive_desc_iterator_destroy(each);
  return found;
}

}  // namespace

void DestroyDesc::operator()(dnnl_primitive_desc_t desc) const {
  (void)Load()->dnnl_primitive_desc_destroy(desc);
  All().End();
}

PrimitiveDesc MakeDesc(const void* op_desc, const Attr& attr, std::string_view impl) {
  if (!impl.empty()) return FindDesc(op_desc, attr, [impl](const PrimitiveDesc& desc) { return ImplName(desc) == impl; });
  if (attr == nullptr) return nullptr;
  const Asking asking;
  dnnl_primitive_desc_t raw = nullptr;
  if (Load()->dnnl_primitive_desc_create(&raw, op_desc, attr.get(), Load()->engine, nullptr) != dnnl_success) return nullptr;
  return asking.Keep(raw);
}

dnnl_status_t DescribeReorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to, const_dnnl_primitive_attr_t attr,
                              PrimitiveDesc& desc) {
  const Asking asking;
  dnnl_primitive_desc_t raw = nullptr;
  const dnnl_status_t result = Load()->dnnl_reorder_primitive_desc_create(&raw, &from, Load()->engine, &to, Load()->engine, attr);
  if (result == dnnl_success) desc = asking.Keep(raw);
  return result;
}

std::vector<std::string> ImplNames(const void* op_desc, const Attr& attr) {
  std::vector<std::string> names;
  const PrimitiveDesc none = FindDesc(op_desc, attr, [&names](const PrimitiveDesc& desc) {
    const std::string_view name = ImplName(desc);
    if (name.find("ref") == std::string_view::npos) names.emplace_back(name);
    return false;
  });
  return names;
}

dnnl_memory_desc_t Query(const PrimitiveDesc& desc, dnnl_query_t what, int index) {
  const dnnl_memory_desc_t* found = Load()->dnnl_primitive_desc_query_md(desc.get(), what, index);
  return found != nullptr ? *found : dnnl_memory_desc_t{};
}

std::string_view ImplName(const PrimitiveDesc& desc) {
  const char* name = nullptr;
  (void)Load()->dnnl_primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, &name);
  return name == nullptr ? "" : name;
}

void FreeUnheld() {
  if (Load() != nullptr) All().EmptyCache();
}

}  // namespace wf::kernels::onednn
