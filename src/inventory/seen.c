/* seen: see snapshot_feed.h. */
#include "base/mem.h"
#include "base/table.h"
#include "snapshot_feed.h"

#include <stdlib.h>
#include <string.h>

struct seen_object {
    char *key;
    char *id;
    size_t n;
    UT_hash_handle hh;
};

struct seen {
    struct seen_object *objects;
};

struct seen *seen_new(void)
{
    return MEM_NEW(struct seen);
}

void seen_free(struct seen *seen)
{
    struct seen_object *object = NULL;
    struct seen_object *next = NULL;
    HASH_ITER (hh, seen->objects, object, next) {
        HASH_DEL(seen->objects, object);
        free(object->key);
        free(object->id);
        free(object);
    }
    free(seen);
}

size_t seen_note(struct seen *seen, const char *key, const char *id, const char **ret_first_id)
{
    struct seen_object *object = NULL;
    HASH_FIND_STR(seen->objects, key, object);
    if (!object) {
        object = MEM_NEW(struct seen_object);
        object->key = mem_strdup(key);
        object->id = mem_strdup(id);
        HASH_ADD_KEYPTR(hh, seen->objects, object->key, strlen(object->key), object);
    }
    *ret_first_id = object->id;
    return object->n++;
}
