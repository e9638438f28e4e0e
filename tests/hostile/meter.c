/* meter: see meter.h. */
#include "meter.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
/* As in sanitizer/allocator_interface.h, which gcc lacks. */
size_t __sanitizer_get_current_allocated_bytes(void);
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

void meter_reset(void)
{
    longest_ms = longest_write_ms = 0;
    n_holds = 0;
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

double meter_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
    return (double)__sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
#endif
}
