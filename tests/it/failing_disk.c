/* For the tests of broken disks: makes system calls on files below a folder fail, kill the program,
 * or read a few bytes at a time. Loaded into the program with LD_PRELOAD.
 *
 *   FAULT_UNDER   the prefix of the paths, as the program names them
 *   FAULT_CALLS   open, read, write, sync, rename, unlink or mkdir: which calls are counted; several
 *                 separated by blanks
 *   FAULT_AT      the first call that fails, from 1; 0 for none
 *   FAULT_KILL    1: the program is killed at that call, before the call has an effect
 *   FAULT_ERROR   the error number
 *   FAULT_STAYS   1: all later calls fail as well, as on a full disk
 *   FAULT_SHORT   1: every read gives a few bytes, sometimes late; 2: it is also interrupted
 *   FAULT_COUNT   a file that gets the number of calls at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *under, *calls;
static long at, error_number;
static int stays, is_short, kills;
static long seen;
static unsigned char watched[1 << 16];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    under = setting("FAULT_UNDER", "\n");
    calls = setting("FAULT_CALLS", "");
    at = atol(setting("FAULT_AT", "0"));
    error_number = atol(setting("FAULT_ERROR", "5"));
    stays = atoi(setting("FAULT_STAYS", "0"));
    is_short = atoi(setting("FAULT_SHORT", "0"));
    kills = atoi(setting("FAULT_KILL", "0"));
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", __atomic_load_n(&seen, __ATOMIC_SEQ_CST));
        fclose(file);
    }
}

static int is_below(const char *path) { return strncmp(path, under, strlen(under)) == 0; }

/* Counts a call and returns whether it fails. */
static int fails(const char *kind) {
    const char *named = strstr(calls, kind);
    if (!named || (named[strlen(kind)] && named[strlen(kind)] != ' ')) return 0;
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (at == 0 || number < at || (number > at && !stays)) return 0;
    if (kills) raise(SIGKILL);
    errno = (int)error_number;
    return 1;
}

static int is_watched(int fd) { return fd >= 0 && fd < (int)sizeof watched && watched[fd]; }

static int opened(int is_ours, int fd) {
    if (fd >= 0 && fd < (int)sizeof watched) watched[fd] = (unsigned char)is_ours;
    return fd;
}

/* A closed descriptor number may be used again for something else, such as the event by which a
 * thread wakes another one. */
int close(int fd) {
    opened(0, fd);
    return REAL(close)(fd);
}

int eventfd(unsigned int count, int flags) { return opened(0, REAL(eventfd)(count, flags)); }

static mode_t mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                \
        va_list list;                                           \
        va_start(list, flags);                                  \
        mode_t mode = mode_of(flags, list);                     \
        va_end(list);                                           \
        int is_ours = is_below(path);                           \
        if (is_ours && fails("open")) return -1;                \
        return opened(is_ours, REAL(name)(path, flags, mode));  \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                \
    int name(int folder, const char *path, int flags, ...) {        \
        va_list list;                                               \
        va_start(list, flags);                                      \
        mode_t mode = mode_of(flags, list);                         \
        va_end(list);                                               \
        int is_ours = is_below(path) || is_watched(folder);         \
        if (is_ours && fails("open")) return -1;                    \
        return opened(is_ours, REAL(name)(folder, path, flags, mode)); \
    }
OPENAT(openat)
OPENAT(openat64)

/* Reduces the count, and returns whether the call is interrupted. */
static int shorten(size_t *count) {
    static long reads;
    long number = __atomic_add_fetch(&reads, 1, __ATOMIC_SEQ_CST);
    size_t most = 1 + (size_t)(number * 7919 % 3001);
    if (*count > most) *count = most;
    if (number % 64 == 0) usleep(200);
    if (is_short < 2 || number % 7 != 0) return 0;
    errno = EINTR;
    return 1;
}

#define FAIL_OR_SHORTEN(fd, count)                              \
    if (is_watched(fd)) {                                       \
        if (fails("read")) return -1;                           \
        if (is_short && shorten(&(count))) return -1;    \
    }

ssize_t read(int fd, void *buffer, size_t count) {
    FAIL_OR_SHORTEN(fd, count)
    return REAL(read)(fd, buffer, count);
}

ssize_t pread(int fd, void *buffer, size_t count, off_t offset) {
    FAIL_OR_SHORTEN(fd, count)
    return REAL(pread)(fd, buffer, count, offset);
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset) {
    FAIL_OR_SHORTEN(fd, count)
    return REAL(pread64)(fd, buffer, count, offset);
}

ssize_t write(int fd, const void *buffer, size_t count) {
    if (is_watched(fd) && fails("write")) return -1;
    return REAL(write)(fd, buffer, count);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    if (is_watched(fd) && fails("write")) return -1;
    return REAL(writev)(fd, pieces, count);
}

int fsync(int fd) {
    if (is_watched(fd) && fails("sync")) return -1;
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    if (is_watched(fd) && fails("sync")) return -1;
    return REAL(fdatasync)(fd);
}

int rename(const char *from, const char *to) {
    if (is_below(to) && fails("rename")) return -1;
    return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    if (is_below(path) && fails("mkdir")) return -1;
    return REAL(mkdir)(path, mode);
}

int unlink(const char *path) {
    if (is_below(path) && fails("unlink")) return -1;
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    if ((is_below(path) || is_watched(folder)) && fails("unlink")) return -1;
    return REAL(unlinkat)(folder, path, flags);
}

int rmdir(const char *path) {
    if (is_below(path) && fails("unlink")) return -1;
    return REAL(rmdir)(path);
}
