/* live_shown: the contents of an inventory that a test feeds. */
#ifndef LIVE_SHOWN_H
#define LIVE_SHOWN_H

#include "live_cluster.h"
#include "shown.h"

static inline void live_check_shown(struct live_cluster *live, const char *expected)
{
    struct buf shown;
    buf_init(&shown, 1 << 20);
    const struct inventory_view view = inventory_read(live->inventory);
    shown_view(&view, &shown);
    assert_int_equal(cluster_check_in_place(view.cluster, NULL), 0);
    inventory_done(&view);
    assert_string_equal(buf_text(&shown), expected);
    buf_fini(&shown);
}

#endif
