/*
 * mutex: a mutex with attributes for clang's -Wthread-safety. That analysis finds a function that
 * returns without releasing a mutex, or calls another function without the mutex it requires.
 *
 * docs/dev/ARCHITECTURE.md has a table of all locks, with their order and the data that each
 * guards.
 */
#ifndef BASE_MUTEX_H
#define BASE_MUTEX_H

#include <pthread.h>
#include <stdlib.h>

#ifdef __clang__
#define MUTEX_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define MUTEX_ATTRIBUTE(attribute)
#endif
/* Attributes of a function: its caller holds the mutex; it locks it; it unlocks it. */
#define REQUIRES(mutex) MUTEX_ATTRIBUTE(requires_capability(mutex))
#define ACQUIRES(mutex) MUTEX_ATTRIBUTE(acquire_capability(mutex))
#define RELEASES(mutex) MUTEX_ATTRIBUTE(release_capability(mutex))

struct MUTEX_ATTRIBUTE(capability("mutex")) mutex {
    pthread_mutex_t native; /* for pthread_cond_wait() */
};

static inline void mutex_lock(struct mutex *mutex) ACQUIRES(mutex)
    MUTEX_ATTRIBUTE(no_thread_safety_analysis);
static inline void mutex_unlock(struct mutex *mutex) RELEASES(mutex)
    MUTEX_ATTRIBUTE(no_thread_safety_analysis);

static inline void mutex_init(struct mutex *mutex)
{
    if (pthread_mutex_init(&mutex->native, NULL) != 0)
        abort();
}

static inline void mutex_fini(struct mutex *mutex)
{
    (void)pthread_mutex_destroy(&mutex->native);
}

static inline void mutex_lock(struct mutex *mutex)
{
    (void)pthread_mutex_lock(&mutex->native);
}

static inline void mutex_unlock(struct mutex *mutex)
{
    (void)pthread_mutex_unlock(&mutex->native);
}

#endif
