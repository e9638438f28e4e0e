/* fake_catch_up: see fake_catch_up.h. */
#include "fake_catch_up.h"

#include <stdio.h>

static void begin(void *watch, const struct catch_up *catch_up)
{
    struct fake_catch_up *fake = watch;
    fake->last = *catch_up;
    fake->n++;
    (void)snprintf(fake->version, sizeof fake->version, "%s",
                   catch_up->version ? catch_up->version : "");
}

struct catch_up_watch fake_catch_up_of(struct fake_catch_up *fake)
{
    return (struct catch_up_watch){"/api/v1/pods", begin, fake};
}

void fake_catch_up_done(struct fake_catch_up *fake, uint64_t number)
{
    fake->last.done(fake->last.context, number);
}
