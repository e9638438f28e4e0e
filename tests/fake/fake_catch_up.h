/*
 * fake_catch_up: a watch of the pods that catches up when the test says so.
 */
#ifndef FAKE_CATCH_UP_H
#define FAKE_CATCH_UP_H

#include "kube/catch_up.h"

struct fake_catch_up {
    struct catch_up last; /* that was begun; number 0: none */
    char version[64];     /* of it; "": list anew */
    int n;                /* so many were begun */
};

struct catch_up_watch fake_catch_up_of(struct fake_catch_up *fake);
void fake_catch_up_done(struct fake_catch_up *fake, uint64_t number);

#endif
