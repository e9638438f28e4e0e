/*
 * compare_count: how often the program under test compares strings or bytes: the work of its
 * tables and lists, whatever the machine does meanwhile. Tables whose keys collide, and lists that
 * are searched, compare a number of times that is quadratic in what they hold.
 *
 * The dependency compare_count redirects strcmp() and memcmp() of the linked objects here.
 */
#ifndef COMPARE_COUNT_H
#define COMPARE_COUNT_H

#include <stddef.h>

/* Since the start of the program. */
size_t compare_count(void);

#endif
