/* yaml_places: see yaml_places.h. Values carry no position, because jansson shares true, false and
 * null. */
#include "yaml_places.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct yaml_place {
    UT_hash_handle hh;
    struct text_position key;
    struct text_position value;
    char id[]; /* address of the container, then the key */
};

struct yaml_places {
    struct arena *arena;
    struct yaml_place *by_id;
};

struct yaml_places *yaml_places_new(void)
{
    struct yaml_places *places = MEM_NEW(struct yaml_places);
    places->arena = arena_new();
    return places;
}

void yaml_places_free(struct yaml_places *places)
{
    if (!places)
        return;
    HASH_CLEAR(hh, places->by_id);
    arena_free(places->arena);
    free(places);
}

static size_t id_size(const char *name)
{
    return sizeof(uintptr_t) + strlen(name);
}

static void id_write(char *id, size_t size, const json_t *container, const char *name)
{
    uintptr_t address = (uintptr_t)container;
    memcpy(id, &address, sizeof address);
    memcpy(id + sizeof address, name, size - sizeof address);
}

static struct yaml_place *find(const struct yaml_places *places, const json_t *container,
                               const char *name)
{
    struct yaml_place *place = NULL;
    size_t size = id_size(name);
    char *id CLEANUP(mem_free_ptr) = mem_new(size);
    id_write(id, size, container, name);
    HASH_FIND(hh, places->by_id, id, size, place);
    return place;
}

void yaml_places_add(struct yaml_places *places, const json_t *container, const char *name,
                     struct text_position key, struct text_position value)
{
    struct yaml_place *place = find(places, container, name);
    if (!place) {
        size_t size = id_size(name);
        place = arena_alloc(places->arena, sizeof *place + size);
        id_write(place->id, size, container, name);
        HASH_ADD_KEYPTR(hh, places->by_id, place->id, size, place);
    }
    place->key = key;
    place->value = value;
}

void yaml_places_copy(struct yaml_places *places, const json_t *from, const json_t *to,
                      const char *key)
{
    const struct yaml_place *place = find(places, from, key);
    if (place)
        yaml_places_add(places, to, key, place->key, place->value);
}

struct text_position yaml_place_of_key(const struct yaml_places *places, const json_t *container,
                                       const char *key)
{
    const struct yaml_place *place = places ? find(places, container, key) : NULL;
    return place ? place->key : (struct text_position){0, 0};
}

struct text_position yaml_place_of_value(const struct yaml_places *places, const json_t *container,
                                         const char *key)
{
    const struct yaml_place *place = places ? find(places, container, key) : NULL;
    return place ? place->value : (struct text_position){0, 0};
}
