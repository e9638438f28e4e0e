/*
 * fake_catch_up: a watch of pods whose catching up the test controls.
 */
#ifndef FAKE_CATCH_UP_H
#define FAKE_CATCH_UP_H

#include "kube/catch_up.h"

struct fake_catch_up {
    struct catch_up last; /* the last one started; number 0: none */
    char version[64];     /* of the last one; "": list again */
    int n;                /* number started */
};

struct catch_up_watch fake_catch_up_of(struct fake_catch_up *fake);
void fake_catch_up_done(struct fake_catch_up *fake, uint64_t number);

#endif
