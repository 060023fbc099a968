#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/base/mutex.h"
#include "runtime/kernels/operation.h"

namespace wf::kernels {

// Which of several ways the kernel of an operation goes (operation.h). The first who makes one measures, if it has the time, else the row's
// own way is taken; what was chosen holds for everybody as long as this lives, and with a file for those who read it later, so that the
// same operation always gives the same bits.
// Thread: thread-safe; measuring holds no lock.   Bounds: kMostChoices; what comes after them goes the row's own way.
class Choices {
 public:
  // The file is read now, and need not be there yet. Empty: there is none.
  explicit Choices(std::string file = {});

  // As kernels::MakeKernel. left_ns: what measuring may take, which shrinks; 0: nothing is measured. Of one constant no two at once.
  base::Result<std::unique_ptr<Kernel>> Make(const Operation& operation, int64_t& left_ns);

  // Writes what was chosen since the last time, beside what others have put there, in one step. Errors: the file cannot be written.
  base::Status Save();

  // For all that is made ready together, before anybody waits for it: once for all with a file, else at every start.
  int64_t measuring_ns() const { return file_.empty() ? kBriefNs : kLongNs; }
  const std::string& odd() const { return odd_; }  // why what is in the file does not count; empty: it does

 private:
  static constexpr size_t kMostChoices = 65'536;
  static constexpr int64_t kBriefNs = 30'000'000, kLongNs = 2'000'000'000;
  static constexpr size_t kBriefWays = 2;  // without a file the most promising alone

  // The way of the key; null: not chosen.
  const std::string* Find(const std::string& key);

  const std::string file_;
  const std::string machine_;
  std::string odd_;
  bool is_ours_ = true;  // the file may be written over
  base::Mutex saving_;   // held while the file is written: what is newer comes later
  base::Mutex mutex_;
  std::map<std::string, std::string> way_ WF_GUARDED_BY(mutex_);  // by key
  bool is_new_ WF_GUARDED_BY(mutex_) = false;                     // something is not in the file
};

// All that decides which way is the fastest, but for the machine.
std::string KeyOf(const Operation& operation);

}  // namespace wf::kernels
