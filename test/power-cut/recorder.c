// Preloaded into a server: records every change below one folder, in the order in which it took effect, with its bytes.
//
//   RECORDER_BASE     the folder (absolute, without symbolic links)
//   RECORDER_LOG      the file that the records are appended to (outside the folder)
//   RECORDER_DELAY_MS each flush takes this much longer, so that what does not wait for it is seen not to
//
// A record is a header (see `struct header`), a path and bytes. A flush makes two, when it begins and when it has ended: what is
// written in between is not known to be on the disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum op { OPEN = 1, WRITE, TRUNCATE, RENAME, UNLINK, MKDIR, SYNC_BEGIN, SYNC_END, LINK };
enum { FLAG_TRUNCATES = 1, FLAG_DURABLE = 2 };

struct header {
  uint8_t op;
  uint8_t flags;
  uint16_t path_length;
  int32_t fd;
  uint64_t offset; // of a write; the length of a truncation; the number of a flush
  uint64_t data_length;
} __attribute__((packed));

#define MAX_FD 65536
static struct {
  int on;
  int durable;
  dev_t dev;
  ino_t ino;
} tracked[MAX_FD];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char base[PATH_MAX];
static size_t base_length;
static int log_fd = -1;
static long delay_ms;
static uint64_t flushes;

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("RECORDER_BASE");
  const char *log = getenv("RECORDER_LOG");
  if (!folder || !log) return;
  snprintf(base, sizeof base, "%s", folder);
  base_length = strlen(base);
  if (getenv("RECORDER_DELAY_MS")) delay_ms = atol(getenv("RECORDER_DELAY_MS"));
  log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}
#define REAL(result, name, ...) \
  static result (*call)(__VA_ARGS__); \
  if (!call) call = real(name)

static int below(const char *path) {
  return log_fd >= 0 && path && strncmp(path, base, base_length) == 0 && (path[base_length] == '/' || path[base_length] == 0);
}

static void append(const void *bytes, size_t length) {
  const char *from = bytes;
  while (length > 0) {
    long written = syscall(SYS_write, log_fd, from, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) abort(); // a record with a hole would be read as something else
    from += written;
    length -= (size_t)written;
  }
}

static void record(enum op op, int flags, int fd, uint64_t offset, const char *path, size_t path_length, uint64_t data_length) {
  struct header header = {(uint8_t)op, (uint8_t)flags, (uint16_t)path_length, fd, offset, data_length};
  append(&header, sizeof header);
  append(path, path_length);
}

// Whether this descriptor is one of the folder's: its number may have passed to another file unseen.
static int is_tracked(int fd) {
  struct stat found;
  if (fd < 0 || fd >= MAX_FD || !tracked[fd].on) return 0;
  if (fstat(fd, &found) == 0 && found.st_dev == tracked[fd].dev && found.st_ino == tracked[fd].ino) return 1;
  tracked[fd].on = 0;
  return 0;
}

static int opened(int fd, const char *path, int flags) {
  struct stat found;
  if (fd < 0 || fd >= MAX_FD || fstat(fd, &found) != 0) return fd;
  int durable = (flags & (O_DSYNC | O_SYNC)) != 0;
  tracked[fd].on = 1;
  tracked[fd].durable = durable;
  tracked[fd].dev = found.st_dev;
  tracked[fd].ino = found.st_ino;
  record(OPEN, ((flags & O_TRUNC) ? FLAG_TRUNCATES : 0) | (durable ? FLAG_DURABLE : 0), fd, 0, path, strlen(path), 0);
  return fd;
}

#define OPENER(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    if (!below(path)) return call(path, flags, mode); \
    pthread_mutex_lock(&lock); \
    int fd = opened(call(path, flags, mode), path, flags); \
    pthread_mutex_unlock(&lock); \
    return fd; \
  }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(int, #name, int, const char *, int, ...); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    if (!below(path)) return call(folder, path, flags, mode); \
    pthread_mutex_lock(&lock); \
    int fd = opened(call(folder, path, flags, mode), path, flags); \
    pthread_mutex_unlock(&lock); \
    return fd; \
  }
OPENER_AT(openat)
OPENER_AT(openat64)

int close(int fd) {
  REAL(int, "close", int);
  if (fd >= 0 && fd < MAX_FD) tracked[fd].on = 0;
  return call(fd);
}

static off_t position_of(int fd) {
  return lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
}

static void wrote(int fd, off_t offset, const struct iovec *pieces, int count, ssize_t written) {
  if (written <= 0) return;
  record(WRITE, tracked[fd].durable ? FLAG_DURABLE : 0, fd, (uint64_t)offset, "", 0, (uint64_t)written);
  size_t left = (size_t)written;
  for (int piece = 0; piece < count && left > 0; piece += 1) {
    size_t length = pieces[piece].iov_len < left ? pieces[piece].iov_len : left;
    append(pieces[piece].iov_base, length);
    left -= length;
  }
}

#define RECORDED(written, offset, pieces, count) \
  pthread_mutex_lock(&lock); \
  off_t at = (offset); \
  ssize_t result = (written); \
  int failure = errno; \
  wrote(fd, at, (pieces), (count), result); \
  pthread_mutex_unlock(&lock); \
  errno = failure; \
  return result

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (!is_tracked(fd)) return call(fd, bytes, length);
  struct iovec piece = {(void *)bytes, length};
  RECORDED(call(fd, bytes, length), position_of(fd), &piece, 1);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  if (!is_tracked(fd)) return call(fd, pieces, count);
  RECORDED(call(fd, pieces, count), position_of(fd), pieces, count);
}

#define POSITIONED(name) \
  ssize_t name(int fd, const void *bytes, size_t length, off_t offset) { \
    REAL(ssize_t, #name, int, const void *, size_t, off_t); \
    if (!is_tracked(fd)) return call(fd, bytes, length, offset); \
    struct iovec piece = {(void *)bytes, length}; \
    RECORDED(call(fd, bytes, length, offset), offset, &piece, 1); \
  }
POSITIONED(pwrite)
POSITIONED(pwrite64)

#define POSITIONED_PIECES(name) \
  ssize_t name(int fd, const struct iovec *pieces, int count, off_t offset) { \
    REAL(ssize_t, #name, int, const struct iovec *, int, off_t); \
    if (!is_tracked(fd)) return call(fd, pieces, count, offset); \
    RECORDED(call(fd, pieces, count, offset), offset, pieces, count); \
  }
POSITIONED_PIECES(pwritev)
POSITIONED_PIECES(pwritev64)

#define TRUNCATER(name) \
  int name(int fd, off_t length) { \
    REAL(int, #name, int, off_t); \
    if (!is_tracked(fd)) return call(fd, length); \
    pthread_mutex_lock(&lock); \
    int result = call(fd, length); \
    if (result == 0) record(TRUNCATE, 0, fd, (uint64_t)length, "", 0, 0); \
    pthread_mutex_unlock(&lock); \
    return result; \
  }
TRUNCATER(ftruncate)
TRUNCATER(ftruncate64)

static void named(enum op op, const char *from, const char *to) {
  char both[2 * PATH_MAX];
  int length = snprintf(both, sizeof both, "%s%c%s", from, 0, to);
  record(op, 0, -1, 0, both, (size_t)length, 0);
}

#define NAMER(name, op) \
  int name(const char *from, const char *to) { \
    REAL(int, #name, const char *, const char *); \
    if (!below(from) && !below(to)) return call(from, to); \
    pthread_mutex_lock(&lock); \
    int result = call(from, to); \
    if (result == 0) named(op, from, to); \
    pthread_mutex_unlock(&lock); \
    return result; \
  }
NAMER(rename, RENAME)
NAMER(link, LINK)

#define REMOVER(name, op) \
  int name(const char *path) { \
    REAL(int, #name, const char *); \
    if (!below(path)) return call(path); \
    pthread_mutex_lock(&lock); \
    int result = call(path); \
    if (result == 0) record(op, 0, -1, 0, path, strlen(path), 0); \
    pthread_mutex_unlock(&lock); \
    return result; \
  }
REMOVER(unlink, UNLINK)
REMOVER(rmdir, UNLINK)

int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  if (!below(path)) return call(path, mode);
  pthread_mutex_lock(&lock);
  int result = call(path, mode);
  if (result == 0) record(MKDIR, 0, -1, 0, path, strlen(path), 0);
  pthread_mutex_unlock(&lock);
  return result;
}

static int flushed(int fd, int (*call)(int)) {
  if (!is_tracked(fd)) return call(fd);
  struct timespec delay = {delay_ms / 1000, (delay_ms % 1000) * 1000000};
  pthread_mutex_lock(&lock);
  uint64_t number = flushes += 1;
  record(SYNC_BEGIN, 0, fd, number, "", 0, 0);
  pthread_mutex_unlock(&lock);
  nanosleep(&delay, 0);
  int result = call(fd);
  if (result != 0) return result;
  pthread_mutex_lock(&lock);
  record(SYNC_END, 0, fd, number, "", 0, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  return flushed(fd, call);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return flushed(fd, call);
}

// What else changes a file or a name. Nothing is known to call it below the folder; if something did, the recording would miss it.
static void unknown(const char *what, const char *path) {
  fprintf(stderr, "recorder: %s of %s is not recorded: teach the recorder, or the replay is of another disk\n", what, path);
  abort();
}

#define UNKNOWN_FD(result, name, fd, parameters, arguments, ...) \
  result name parameters { \
    REAL(result, #name, __VA_ARGS__); \
    if (is_tracked(fd)) unknown(#name, "a file"); \
    return call arguments; \
  }
UNKNOWN_FD(ssize_t, copy_file_range, to, (int from, off64_t *in, int to, off64_t *out, size_t length, unsigned flags), (from, in, to, out, length, flags), int, off64_t *, int, off64_t *, size_t, unsigned)
UNKNOWN_FD(ssize_t, sendfile, to, (int to, int from, off_t *at, size_t length), (to, from, at, length), int, int, off_t *, size_t)
UNKNOWN_FD(ssize_t, sendfile64, to, (int to, int from, off64_t *at, size_t length), (to, from, at, length), int, int, off64_t *, size_t)
UNKNOWN_FD(int, fallocate, fd, (int fd, int mode, off_t at, off_t length), (fd, mode, at, length), int, int, off_t, off_t)
UNKNOWN_FD(int, fallocate64, fd, (int fd, int mode, off64_t at, off64_t length), (fd, mode, at, length), int, int, off64_t, off64_t)
UNKNOWN_FD(int, posix_fallocate, fd, (int fd, off_t at, off_t length), (fd, at, length), int, off_t, off_t)
UNKNOWN_FD(int, posix_fallocate64, fd, (int fd, off64_t at, off64_t length), (fd, at, length), int, off64_t, off64_t)

#define UNKNOWN_PATH(name, path, parameters, arguments, ...) \
  int name parameters { \
    REAL(int, #name, __VA_ARGS__); \
    if (below(path)) unknown(#name, path); \
    return call arguments; \
  }
UNKNOWN_PATH(truncate, path, (const char *path, off_t length), (path, length), const char *, off_t)
UNKNOWN_PATH(truncate64, path, (const char *path, off64_t length), (path, length), const char *, off64_t)
UNKNOWN_PATH(symlink, to, (const char *from, const char *to), (from, to), const char *, const char *)
UNKNOWN_PATH(linkat, to, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), int, const char *, int, const char *, int)
UNKNOWN_PATH(renameat, to, (int a, const char *from, int b, const char *to), (a, from, b, to), int, const char *, int, const char *)
UNKNOWN_PATH(renameat2, to, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags), int, const char *, int, const char *, unsigned)
UNKNOWN_PATH(unlinkat, path, (int folder, const char *path, int flags), (folder, path, flags), int, const char *, int)
UNKNOWN_PATH(mkdirat, path, (int folder, const char *path, mode_t mode), (folder, path, mode), int, const char *, mode_t)

// Memory of a file that only this run's processes share outlives no power cut: the readers of LMDB, and the index of SQLite's probe of the folder.
static int is_of_this_run(const char *name) {
  size_t length = strlen(name);
  return strcmp(name, "/lock.mdb") == 0 || (strncmp(name, "/probe-", 7) == 0 && length > 4 && strcmp(name + length - 4, "-shm") == 0);
}

// Memory that writes to a file by itself.
static void *mapped(void *(*call)(void *, size_t, int, int, int, off64_t), void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
  if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && is_tracked(fd)) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t found = readlink(link, path, sizeof path - 1);
    path[found < 0 ? 0 : found] = 0;
    const char *name = strrchr(path, '/');
    if (!name || !is_of_this_run(name)) unknown("a shared mapping", path);
  }
  return call(at, length, protection, flags, fd, offset);
}
#define MAPPER(name) \
  void *name(void *at, size_t length, int protection, int flags, int fd, off64_t offset) { \
    REAL(void *, #name, void *, size_t, int, int, int, off64_t); \
    return mapped(call, at, length, protection, flags, fd, offset); \
  }
MAPPER(mmap)
MAPPER(mmap64)
