/* hash_keys: see include/formats/hash_keys.h. */
#include "formats/hash_keys.h"
#include "base/hash.h"
#include "formats/json_get.h"

#include <string.h>
#include <sys/random.h>

int hash_keys_make(struct err *err)
{
    struct siphash_key key;
    size_t json_seed = 0;
    if (getrandom(&key, sizeof key, 0) != sizeof key ||
        getrandom(&json_seed, sizeof json_seed, 0) != sizeof json_seed)
        return err_set(err, errno, "getrandom: %s", strerror(errno));
    hash_set_key(key);
    json_set_seed(json_seed);
    return 0;
}
