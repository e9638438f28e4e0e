/* meter: see meter.h. */
#include "meter.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
/* As in sanitizer/allocator_interface.h, which gcc lacks. */
size_t __sanitizer_get_current_allocated_bytes(void);
void __sanitizer_malloc_hook(const volatile void *memory, size_t size);
void __sanitizer_free_hook(const volatile void *memory);
#endif

int __real_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock);

static double began_ms, longest_ms, longest_write_ms;
static bool is_writing;
static size_t n_holds;

double meter_cpu_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    const int r = __real_pthread_rwlock_rdlock(lock);
    is_writing = false;
    began_ms = meter_cpu_ms();
    return r;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    const int r = __real_pthread_rwlock_wrlock(lock);
    is_writing = true;
    began_ms = meter_cpu_ms();
    return r;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    const double held_ms = meter_cpu_ms() - began_ms;
    longest_ms = held_ms > longest_ms ? held_ms : longest_ms;
    if (is_writing && held_ms > longest_write_ms)
        longest_write_ms = held_ms;
    n_holds++;
    return __real_pthread_rwlock_unlock(lock);
}

/* ---- bytes ---- */

static double bytes_at_reset;

#ifdef __SANITIZE_ADDRESS__

static double most_bytes;

double meter_bytes(void)
{
    return (double)__sanitizer_get_current_allocated_bytes();
}

/* AddressSanitizer calls them. */
void __sanitizer_malloc_hook(const volatile void *memory, size_t size)
{
    (void)memory;
    (void)size;
    const double now = meter_bytes();
    most_bytes = now > most_bytes ? now : most_bytes;
}

void __sanitizer_free_hook(const volatile void *memory)
{
    (void)memory;
}

static void reset_bytes(void)
{
    most_bytes = bytes_at_reset = meter_bytes();
}

double meter_most_bytes(void)
{
    return most_bytes - bytes_at_reset;
}

#else

double meter_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

static double most_resident(void)
{
    char line[256];
    static const char KEY[] = "VmHWM:";
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && kib == 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, KEY, strlen(KEY)) == 0)
            kib = strtol(&line[strlen(KEY)], NULL, 10);
    }
    if (status)
        (void)fclose(status);
    return (double)kib * 1024;
}

static void reset_bytes(void)
{
    FILE *references = fopen("/proc/self/clear_refs", "we");
    (void)malloc_trim(0);
    if (references && fputs("5", references) >= 0) /* the most becomes what is resident now */
        (void)fclose(references);
    bytes_at_reset = most_resident();
}

double meter_most_bytes(void)
{
    return most_resident() - bytes_at_reset;
}

#endif

/* ---- holds ---- */

void meter_reset(void)
{
    longest_ms = longest_write_ms = 0;
    n_holds = 0;
    reset_bytes();
}

size_t meter_n_holds(void)
{
    return n_holds;
}

double meter_longest_hold_ms(void)
{
    return longest_ms;
}

double meter_longest_write_ms(void)
{
    return longest_write_ms;
}
