// Shows a folder at a mount point, for reading, by FUSE with direct input and output: files on it cannot be mapped into shared memory, as
// with some mounts of remote storage. `unmapped-volume FOLDER MOUNTPOINT` serves until it is ended.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_NODES = 100000, ROOM = 1 << 20 };

static char *paths[MAX_NODES]; // by node id
static uint64_t nodes = FUSE_ROOT_ID;
static int device;

static void answer(uint64_t unique, int error, const void *bytes, size_t length) {
  struct fuse_out_header header = {.len = sizeof header + length, .error = -error, .unique = unique};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)bytes, length}};
  if (writev(device, parts, 2) < 0 && errno != ENOENT) perror("answer");
}

static uint64_t node_of(const char *path) {
  for (uint64_t id = FUSE_ROOT_ID; id <= nodes; id++)
    if (strcmp(paths[id], path) == 0) return id;
  if (nodes + 1 == MAX_NODES) abort();
  paths[++nodes] = strdup(path);
  return nodes;
}

static int attributes(const char *path, uint64_t node, struct fuse_attr *found) {
  struct stat info;
  if (lstat(path, &info) != 0) return errno;
  *found = (struct fuse_attr){.ino = node, .size = info.st_size, .blocks = info.st_blocks, .mtime = info.st_mtime, .ctime = info.st_ctime,
    .atime = info.st_atime, .mode = info.st_mode, .nlink = info.st_nlink, .uid = info.st_uid, .gid = info.st_gid, .blksize = 4096};
  return 0;
}

static void look_up(const struct fuse_in_header *call, const char *name) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", paths[call->nodeid], name) >= (int)sizeof path) return answer(call->unique, ENAMETOOLONG, NULL, 0);
  struct fuse_entry_out entry = {0};
  int error = access(path, F_OK) == 0 ? 0 : errno;
  if (error == 0) {
    entry.nodeid = node_of(path);
    error = attributes(path, entry.nodeid, &entry.attr);
  }
  answer(call->unique, error, &entry, error == 0 ? sizeof entry : 0);
}

static void list(const struct fuse_in_header *call, const struct fuse_read_in *read) {
  static char bytes[ROOM];
  size_t length = 0;
  DIR *folder = opendir(paths[call->nodeid]);
  if (!folder) return answer(call->unique, errno, NULL, 0);
  struct dirent *found;
  for (uint64_t index = 0; (found = readdir(folder)); index++) {
    size_t size = FUSE_NAME_OFFSET + strlen(found->d_name), padded = FUSE_DIRENT_ALIGN(size);
    if (index < read->offset) continue;
    if (length + padded > read->size || length + padded > sizeof bytes) break;
    struct fuse_dirent *entry = (struct fuse_dirent *)(bytes + length);
    memset(entry, 0, padded);
    *entry = (struct fuse_dirent){.ino = index + 2, .off = index + 1, .namelen = strlen(found->d_name), .type = found->d_type};
    memcpy(entry->name, found->d_name, entry->namelen);
    length += padded;
  }
  closedir(folder);
  answer(call->unique, 0, bytes, length);
}

static void serve(const struct fuse_in_header *call, const void *argument) {
  static char bytes[ROOM];
  const char *path = call->nodeid ? paths[call->nodeid] : NULL;
  int error = 0;
  switch (call->opcode) {
  case FUSE_INIT: {
    const struct fuse_init_in *init = argument;
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = init->minor < 31 ? init->minor : 31, .max_readahead = init->max_readahead,
      .max_write = 4096, .max_background = 8, .congestion_threshold = 6, .time_gran = 1};
    return answer(call->unique, 0, &out, sizeof out);
  }
  case FUSE_LOOKUP: return look_up(call, argument);
  case FUSE_GETATTR: {
    struct fuse_attr_out out = {0};
    error = attributes(path, call->nodeid, &out.attr);
    return answer(call->unique, error, &out, error == 0 ? sizeof out : 0);
  }
  case FUSE_OPEN:
  case FUSE_OPENDIR: {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct fuse_open_out out = {.fh = file, .open_flags = FOPEN_DIRECT_IO};
    return answer(call->unique, file < 0 ? errno : 0, &out, file < 0 ? 0 : sizeof out);
  }
  case FUSE_READ: {
    const struct fuse_read_in *read = argument;
    ssize_t length = pread(read->fh, bytes, read->size < sizeof bytes ? read->size : sizeof bytes, read->offset);
    return answer(call->unique, length < 0 ? errno : 0, bytes, length < 0 ? 0 : length);
  }
  case FUSE_READDIR: return list(call, argument);
  case FUSE_READLINK: {
    ssize_t length = readlink(path, bytes, sizeof bytes);
    return answer(call->unique, length < 0 ? errno : 0, bytes, length < 0 ? 0 : length);
  }
  case FUSE_RELEASE:
  case FUSE_RELEASEDIR:
    close(((const struct fuse_release_in *)argument)->fh);
    return answer(call->unique, 0, NULL, 0);
  case FUSE_STATFS: {
    struct statvfs info;
    if (statvfs(path, &info) != 0) return answer(call->unique, errno, NULL, 0);
    struct fuse_statfs_out out = {.st = {.blocks = info.f_blocks, .bfree = info.f_bfree, .bavail = info.f_bavail, .files = info.f_files,
      .ffree = info.f_ffree, .bsize = info.f_bsize, .namelen = info.f_namemax, .frsize = info.f_frsize}};
    return answer(call->unique, 0, &out, sizeof out);
  }
  case FUSE_FORGET:
  case FUSE_BATCH_FORGET:
  case FUSE_INTERRUPT: return;
  case FUSE_FLUSH:
  case FUSE_DESTROY: return answer(call->unique, 0, NULL, 0);
  default: return answer(call->unique, ENOSYS, NULL, 0);
  }
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  paths[FUSE_ROOT_ID] = arguments[1];
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  char options[100];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
  if (device < 0 || mount("coffer", arguments[2], "fuse.coffer", MS_NOSUID | MS_NODEV | MS_RDONLY, options) != 0) {
    perror("mount");
    return 1;
  }
  puts("mounted");
  fflush(stdout);
  static char call[ROOM + 4096];
  for (;;) {
    ssize_t length = read(device, call, sizeof call);
    if (length < 0 && errno == EINTR) continue;
    if (length < (ssize_t)sizeof(struct fuse_in_header)) return 0; // unmounted
    serve((const struct fuse_in_header *)call, call + sizeof(struct fuse_in_header));
  }
}
