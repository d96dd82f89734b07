/* An allocator that opens and closes a file when it starts, as jemalloc does. An allocation in
 * between would wait for its lock; this one ends the process. */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char arena[16 << 20];
static size_t used;
static int is_starting, has_started;

void *malloc(size_t size)
{
    if (is_starting)
        _exit(99);
    if (!has_started) {
        is_starting = 1;
        long file = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
        syscall(SYS_close, file);
        is_starting = 0;
        has_started = 1;
    }
    size_t length = (size + 31) & ~(size_t)15;
    size_t at = __atomic_fetch_add(&used, length, __ATOMIC_RELAXED);
    if (length < size || at + length > sizeof arena)
        return NULL;
    memcpy(arena + at, &size, sizeof size);
    return arena + at + 16;
}

void free(void *place)
{
    (void)place;
}

void *calloc(size_t count, size_t size)
{
    /* The arena is zero, and nothing is used twice. */
    return malloc(count * size);
}

void *realloc(void *place, size_t size)
{
    void *copy = malloc(size);
    if (copy && place) {
        size_t old;
        memcpy(&old, (char *)place - 16, sizeof old);
        memcpy(copy, place, old < size ? old : size);
    }
    return copy;
}

/* The first allocation is before main, as in a library's start. */
__attribute__((constructor)) static void start(void)
{
    free(malloc(1));
}
