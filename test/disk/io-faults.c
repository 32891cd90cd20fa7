// Preloaded into a server: makes chosen input and output below its data folder fail, when a test says so.
//
//   FAULTS_BASE     the data folder (absolute, without symbolic links)
//   FAULTS_CONTROL  a file that the test writes while the server runs: `struct control`, mapped by both
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum op { OP_WRITE = 1, OP_FLUSHED_WRITE = 2, OP_FLUSH = 4, OP_RENAME = 8, OP_READ = 16, OP_CREATE = 32, OP_OPEN = 64, OP_UNLINK = 128,
  OP_MKDIR = 256, OP_TRUNCATE = 512, OP_STATFS = 1024, OP_LINK = 2048, OP_MMAP = 4096, OP_LOCK = 8192, OP_COPY = 16384, OP_SOCKET = 32768,
  OP_ACCEPT = 65536, OP_ALLOCATE = 131072 };
enum place { IN_RECORDS = 1, IN_BLOBS = 2, IN_REST = 4, IN_NETWORK = 8 };

static struct control {
  int32_t ops;    // which calls fail, as a sum of `enum op`
  int32_t places; // where, as a sum of `enum place`
  int32_t every;  // one of so many calls fails
  int32_t times;  // so many fail altogether; below 0 without end
  int32_t error;  // errno; 0 for a write that takes only a part of its bytes; below 0 for a call that takes so many milliseconds and succeeds
  int32_t calls;  // of the kind, so far
  int32_t hits;   // that failed, so far
} *control;

static char base[PATH_MAX];
static size_t base_length;

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("FAULTS_BASE");
  const char *file = getenv("FAULTS_CONTROL");
  if (!folder || !file) return;
  snprintf(base, sizeof base, "%s/", folder);
  base_length = strlen(base);
  int fd = open(file, O_RDWR | O_CLOEXEC);
  void *mapped = fd < 0 ? MAP_FAILED : mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort(); // without it the test would show nothing
  control = mapped;
}

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}
#define REAL(result, name, ...) \
  static result (*call)(__VA_ARGS__); \
  if (!call) call = real(name)

static int place_of(const char *path) {
  if (strncmp(path, base, base_length) != 0) return 0;
  if (strncmp(path + base_length, "records/data.mdb", 16) == 0) return IN_RECORDS;
  if (strncmp(path + base_length, "blobs", 5) == 0) return IN_BLOBS;
  return IN_REST;
}

static int strikes(enum op op, int place) {
  if (!(control->places & place)) return 0;
  if (__atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST) % control->every != 0) return 0;
  int32_t left = __atomic_load_n(&control->times, __ATOMIC_SEQ_CST);
  do {
    if (left == 0) return 0;
  } while (left > 0 && !__atomic_compare_exchange_n(&control->times, &left, left - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  __atomic_add_fetch(&control->hits, 1, __ATOMIC_SEQ_CST);
  (void)op;
  int32_t slow = -control->error;
  if (slow <= 0) return 1;
  nanosleep(&(struct timespec){slow / 1000, slow % 1000 * 1000000L}, NULL);
  return 0;
}

static int strikes_path(enum op op, const char *path) { return control && path && (control->ops & op) && strikes(op, place_of(path)); }

static int strikes_network(enum op op) { return control && (control->ops & op) && strikes(op, IN_NETWORK); }

static int real_fcntl(int fd, int command) {
  REAL(int, "fcntl", int, int, ...);
  return call(fd, command);
}

static int strikes_fd(enum op op, int fd) {
  if (!control || !(control->ops & (op | (op == OP_WRITE ? OP_FLUSHED_WRITE : 0)))) return 0;
  if (op == OP_WRITE) {
    int flags = real_fcntl(fd, F_GETFL);
    if (flags < 0) return 0;
    if (!(control->ops & ((flags & O_DSYNC) ? OP_FLUSHED_WRITE : OP_WRITE))) return 0;
  }
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strikes(op, place_of(path));
}

static int fail(void) {
  errno = control->error;
  return -1;
}

#define FAILS(op, fd) \
  if (strikes_fd(op, fd)) return fail()

// A part: half of the bytes, at least one.
#define BUFFER_CALL(name, op, parameters, arguments, half, ...) \
  ssize_t name parameters { \
    REAL(ssize_t, #name, __VA_ARGS__); \
    if (!strikes_fd(op, fd)) return call arguments; \
    if (control->error != 0) return fail(); \
    return call half; \
  }
BUFFER_CALL(write, OP_WRITE, (int fd, const void *bytes, size_t length), (fd, bytes, length), (fd, bytes, (length + 1) / 2), int, const void *, size_t)
BUFFER_CALL(pwrite, OP_WRITE, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at), (fd, bytes, (length + 1) / 2, at), int, const void *, size_t, off_t)
BUFFER_CALL(pwrite64, OP_WRITE, (int fd, const void *bytes, size_t length, off64_t at), (fd, bytes, length, at), (fd, bytes, (length + 1) / 2, at), int, const void *, size_t, off64_t)
BUFFER_CALL(read, OP_READ, (int fd, void *bytes, size_t length), (fd, bytes, length), (fd, bytes, (length + 1) / 2), int, void *, size_t)
BUFFER_CALL(pread, OP_READ, (int fd, void *bytes, size_t length, off_t at), (fd, bytes, length, at), (fd, bytes, (length + 1) / 2, at), int, void *, size_t, off_t)
BUFFER_CALL(pread64, OP_READ, (int fd, void *bytes, size_t length, off64_t at), (fd, bytes, length, at), (fd, bytes, (length + 1) / 2, at), int, void *, size_t, off64_t)

// Of several pieces, the first half of the pieces; of one, half of it.
static int half_of(const struct iovec *pieces, int count, struct iovec *first) {
  if (count > 1) return count / 2;
  *first = pieces[0];
  first->iov_len = (first->iov_len + 1) / 2;
  return 0;
}
#define PIECES_CALL(name, op, parameters, arguments, some, part, ...) \
  ssize_t name parameters { \
    REAL(ssize_t, #name, __VA_ARGS__); \
    if (count < 1 || !strikes_fd(op, fd)) return call arguments; \
    if (control->error != 0) return fail(); \
    struct iovec first; \
    int half = half_of(pieces, count, &first); \
    return half > 0 ? call some : call part; \
  }
PIECES_CALL(writev, OP_WRITE, (int fd, const struct iovec *pieces, int count), (fd, pieces, count), (fd, pieces, half), (fd, &first, 1), int, const struct iovec *, int)
PIECES_CALL(pwritev, OP_WRITE, (int fd, const struct iovec *pieces, int count, off_t at), (fd, pieces, count, at), (fd, pieces, half, at), (fd, &first, 1, at), int, const struct iovec *, int, off_t)
PIECES_CALL(pwritev64, OP_WRITE, (int fd, const struct iovec *pieces, int count, off64_t at), (fd, pieces, count, at), (fd, pieces, half, at), (fd, &first, 1, at), int, const struct iovec *, int, off64_t)

int fsync(int fd) {
  REAL(int, "fsync", int);
  FAILS(OP_FLUSH, fd);
  return call(fd);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  FAILS(OP_FLUSH, fd);
  return call(fd);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  if (strikes_path(OP_RENAME, from)) return fail();
  return call(from, to);
}

#define OPENER(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    if (strikes_path((flags & O_CREAT) ? OP_CREATE : OP_OPEN, path)) return fail(); \
    return call(path, flags, mode); \
  }
OPENER(open)
OPENER(open64)

#define PATH_CALL(name, op, parameters, arguments, ...) \
  int name parameters { \
    REAL(int, #name, __VA_ARGS__); \
    if (strikes_path(op, path)) return fail(); \
    return call arguments; \
  }
PATH_CALL(unlink, OP_UNLINK, (const char *path), (path), const char *)
PATH_CALL(mkdir, OP_MKDIR, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
PATH_CALL(statfs, OP_STATFS, (const char *path, struct statfs *found), (path, found), const char *, struct statfs *)
PATH_CALL(statfs64, OP_STATFS, (const char *path, struct statfs64 *found), (path, found), const char *, struct statfs64 *)

#define TRUNCATE_CALL(name, type) \
  int name(int fd, type length) { \
    REAL(int, #name, int, type); \
    FAILS(OP_TRUNCATE, fd); \
    return call(fd, length); \
  }
TRUNCATE_CALL(ftruncate, off_t)
TRUNCATE_CALL(ftruncate64, off64_t)

PATH_CALL(rmdir, OP_UNLINK, (const char *path), (path), const char *)

int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  if (strikes_path(OP_LINK, to)) return fail();
  return call(from, to);
}

// Memory without a file is not that of the stores: V8 ends the process without it.
#define MAPPER(name, type) \
  void *name(void *at, size_t length, int protection, int flags, int fd, type offset) { \
    REAL(void *, #name, void *, size_t, int, int, int, type); \
    if (fd >= 0 && strikes_fd(OP_MMAP, fd)) { \
      errno = control->error; \
      return MAP_FAILED; \
    } \
    return call(at, length, protection, flags, fd, offset); \
  }
MAPPER(mmap, off_t)
MAPPER(mmap64, off64_t)

int flock(int fd, int operation) {
  REAL(int, "flock", int, int);
  FAILS(OP_LOCK, fd);
  return call(fd, operation);
}

static int takes_lock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
#define LOCKER(name) \
  int name(int fd, int command, ...) { \
    REAL(int, #name, int, int, ...); \
    va_list list; \
    va_start(list, command); \
    void *argument = va_arg(list, void *); \
    va_end(list); \
    if (takes_lock(command)) FAILS(OP_LOCK, fd); \
    return call(fd, command, argument); \
  }
LOCKER(fcntl)
LOCKER(fcntl64)

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
  REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
  FAILS(OP_COPY, to);
  return call(from, from_at, to, to_at, length, flags);
}

#define SENDER(name, type) \
  ssize_t name(int to, int from, type *at, size_t length) { \
    REAL(ssize_t, #name, int, int, type *, size_t); \
    FAILS(OP_COPY, from); \
    return call(to, from, at, length); \
  }
SENDER(sendfile, off_t)
SENDER(sendfile64, off64_t)

#define ALLOCATOR(name, type) \
  int name(int fd, int mode, type at, type length) { \
    REAL(int, #name, int, int, type, type); \
    FAILS(OP_ALLOCATE, fd); \
    return call(fd, mode, at, length); \
  }
ALLOCATOR(fallocate, off_t)
ALLOCATOR(fallocate64, off64_t)

int socket(int domain, int type, int protocol) {
  REAL(int, "socket", int, int, int);
  if (strikes_network(OP_SOCKET)) return fail();
  return call(domain, type, protocol);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
  REAL(int, "accept4", int, struct sockaddr *, socklen_t *, int);
  if (strikes_network(OP_ACCEPT)) return fail();
  return call(fd, address, length, flags);
}

int accept(int fd, struct sockaddr *address, socklen_t *length) {
  REAL(int, "accept", int, struct sockaddr *, socklen_t *);
  if (strikes_network(OP_ACCEPT)) return fail();
  return call(fd, address, length);
}
