/* bytes: see include/formats/bytes.h. */
#include "formats/bytes.h"

#include <string.h>

int bytes_read_at_hand(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct bytes_at_hand *rest = context;
    size_t n = rest->len < size ? rest->len : size;
    (void)err;
    if (n > 0) {
        memcpy(bytes, rest->text, n);
        rest->text += n;
        rest->len -= n;
    }
    *ret_n = n;
    return 0;
}
