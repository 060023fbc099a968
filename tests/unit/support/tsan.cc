// What ThreadSanitizer is not to report, in every test with the label tsan. Only what lies in libraries that are not instrumented.

#ifdef WF_THREAD_SANITIZER
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_options();

extern "C" const char* __tsan_default_suppressions() {
  return
      // libuv closes descriptors by a bare system call, which the sanitizer does not see: a number that is used again looks like a race on
      // the old file.
      "race:closedir\n"
      "race:opendir\n"
      "race:fopen\n"
      "race:fclose\n"
      "race:accept4\n"
      "race:socket\n"
      // oneDNN and the OpenMP runtime below it hand over by instructions that the sanitizer does not see.
      "called_from_lib:libdnnl.so\n"
      "called_from_lib:libgomp.so\n";
}

extern "C" const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }
#endif
