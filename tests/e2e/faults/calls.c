// Preloaded into a server: calls of the system fail as the file that FAULTS_FILE names says. Those that receive and send fail on sockets,
// those of files on regular files and stderr: what a process has for itself, such as the pipes of libuv, does not fail in the world either.
#include "control.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// The function that this one stands in for.
#define NEXT(name)                                                       \
  __extension__({                                                        \
    static __typeof__(&name) next;                                       \
    if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    next;                                                                \
  })

static int KindOf(int fd) {
  const int before = errno;
  struct stat found;
  const int kind = fstat(fd, &found) != 0 ? 0 : (int)(found.st_mode & S_IFMT);
  errno = before;
  return kind;
}

static int FailsOn(int fd, int of_sockets) {
  if (faults == NULL) return 0;
  const int kind = KindOf(fd);
  if (kind == S_IFSOCK) return Fails(of_sockets);
  return (kind == S_IFREG || fd == STDERR_FILENO) && Fails(kFile);
}

ssize_t read(int fd, void* to, size_t bytes) { return FailsOn(fd, kReceive) ? -1 : NEXT(read)(fd, to, bytes); }
ssize_t readv(int fd, const struct iovec* to, int count) { return FailsOn(fd, kReceive) ? -1 : NEXT(readv)(fd, to, count); }
ssize_t recv(int fd, void* to, size_t bytes, int flags) { return FailsOn(fd, kReceive) ? -1 : NEXT(recv)(fd, to, bytes, flags); }
ssize_t recvmsg(int fd, struct msghdr* to, int flags) { return FailsOn(fd, kReceive) ? -1 : NEXT(recvmsg)(fd, to, flags); }
ssize_t pread(int fd, void* to, size_t bytes, off_t at) { return FailsOn(fd, kReceive) ? -1 : NEXT(pread)(fd, to, bytes, at); }
ssize_t pread64(int fd, void* to, size_t bytes, off64_t at) { return FailsOn(fd, kReceive) ? -1 : NEXT(pread64)(fd, to, bytes, at); }

ssize_t write(int fd, const void* from, size_t bytes) { return FailsOn(fd, kSend) ? -1 : NEXT(write)(fd, from, bytes); }
ssize_t writev(int fd, const struct iovec* from, int count) { return FailsOn(fd, kSend) ? -1 : NEXT(writev)(fd, from, count); }
ssize_t send(int fd, const void* from, size_t bytes, int flags) { return FailsOn(fd, kSend) ? -1 : NEXT(send)(fd, from, bytes, flags); }
ssize_t sendmsg(int fd, const struct msghdr* from, int flags) { return FailsOn(fd, kSend) ? -1 : NEXT(sendmsg)(fd, from, flags); }
int fsync(int fd) { return Fails(kFile) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return Fails(kFile) ? -1 : NEXT(fdatasync)(fd); }

int accept(int fd, struct sockaddr* restrict peer, socklen_t* restrict size) { return Fails(kAccept) ? -1 : NEXT(accept)(fd, peer, size); }
int accept4(int fd, struct sockaddr* restrict peer, socklen_t* restrict size, int flags) {
  return Fails(kAccept) ? -1 : NEXT(accept4)(fd, peer, size, flags);
}

static mode_t ModeOf(int flags, va_list rest) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = ModeOf(flags, rest);
  va_end(rest);
  return Fails(kOpen) ? -1 : NEXT(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = ModeOf(flags, rest);
  va_end(rest);
  return Fails(kOpen) ? -1 : NEXT(open64)(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = ModeOf(flags, rest);
  va_end(rest);
  return Fails(kOpen) ? -1 : NEXT(openat)(folder, path, flags, mode);
}
int socket(int domain, int type, int protocol) { return Fails(kOpen) ? -1 : NEXT(socket)(domain, type, protocol); }
int eventfd(unsigned count, int flags) { return Fails(kOpen) ? -1 : NEXT(eventfd)(count, flags); }
int epoll_create1(int flags) { return Fails(kOpen) ? -1 : NEXT(epoll_create1)(flags); }
int pipe2(int ends[2], int flags) { return Fails(kOpen) ? -1 : NEXT(pipe2)(ends, flags); }

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t from) {
  return FailsOf(kMap, __builtin_return_address(0)) ? MAP_FAILED : NEXT(mmap)(at, bytes, protection, flags, fd, from);
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off64_t from) {
  return FailsOf(kMap, __builtin_return_address(0)) ? MAP_FAILED : NEXT(mmap64)(at, bytes, protection, flags, fd, from);
}

int pthread_create(pthread_t* restrict out, const pthread_attr_t* restrict how, void* (*run)(void*), void* restrict argument) {
  return Fails(kThread) ? errno : NEXT(pthread_create)(out, how, run, argument);
}

static int64_t Shift(void) { return faults == NULL || faults[kClock].every == 0 ? 0 : (int64_t)faults[kClock].error; }

// By the system itself: a sanitizer's malloc asks for the time, and looking for the next function allocates.
int clock_gettime(clockid_t clock, struct timespec* out) {
  const int result = (int)syscall(SYS_clock_gettime, clock, out);
  if (result == 0 && clock == CLOCK_REALTIME) out->tv_sec += Shift();
  return result;
}
time_t time(time_t* out) {
  const time_t now = NEXT(time)(NULL) + Shift();
  if (out != NULL) *out = now;
  return now;
}
int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  const int result = NEXT(gettimeofday)(out, zone);
  if (result == 0) out->tv_sec += Shift();
  return result;
}
