/* yaml_input: see yaml_input.h. */
#include "yaml_input.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* libyaml compares every %TAG directive with all earlier ones. */
#define TAG_DIRECTIVES_MAX 1000
#define TAG_WORD "%TAG"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct yaml_input {
    bytes_read *read;
    void *context;
    char *tail; /* the last bytes returned, undecoded ones included; NULL at first */
    size_t tail_len;
    size_t tail_size;   /* size of libyaml's buffer */
    size_t tail_offset; /* in the text */
    struct text_position tail_at;
    size_t n_tag_directives;
    size_t n_matched; /* bytes at the start of the line that match TAG_WORD */
    bool in_line;     /* the match failed or is complete */
};

struct yaml_input *yaml_input_new(bytes_read *read, void *context)
{
    struct yaml_input *input = MEM_NEW(struct yaml_input);
    input->read = read;
    input->context = context;
    input->tail_at = (struct text_position){1, 1};
    return input;
}

void yaml_input_free(struct yaml_input *input)
{
    if (!input)
        return;
    free(input->tail);
    free(input);
}

/* bytes must be UTF-8. */
static struct text_position advance(struct text_position at, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n')
            at = (struct text_position){at.line + 1, 1};
        else if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            at.column++;
    }
    return at;
}

struct text_position yaml_input_position(const struct yaml_input *input, size_t offset)
{
    size_t len = offset - input->tail_offset;
    return advance(input->tail_at, input->tail, len < input->tail_len ? len : input->tail_len);
}

/* libyaml requests all its buffer except undecoded bytes. */
static void forget_decoded(struct yaml_input *input, size_t size)
{
    const size_t keep = input->tail_size - size;
    if (keep >= input->tail_len)
        return;
    const size_t n = input->tail_len - keep;
    input->tail_at = advance(input->tail_at, input->tail, n);
    input->tail_offset += n;
    input->tail_len = keep;
    memmove(input->tail, input->tail + n, keep);
}

/* The ends of YAML lines; of multi-byte ones (NEL, LS, PS) the last byte. */
static bool ends_line(char c)
{
    return c == '\n' || c == '\r' || c == '\x85' || c == '\xa8' || c == '\xa9';
}

/* n_behind: bytes of the tail after the word. */
static int refuse_tag_directive(const struct yaml_input *input, size_t n_behind, struct err *err)
{
    struct text_position at =
        yaml_input_position(input, input->tail_offset + input->tail_len - n_behind);
    return err_set(err, EMSGSIZE, "%zu:%zu: more than %d %s directives", at.line,
                   at.column - strlen(TAG_WORD), TAG_DIRECTIVES_MAX, TAG_WORD);
}

/* Examines the bytes that were appended to the tail. */
static int count_tag_directives(struct yaml_input *input, const char *bytes, size_t len,
                                struct err *err)
{
    for (size_t i = 0; i < len; i++) {
        if (ends_line(bytes[i])) {
            input->in_line = false;
            input->n_matched = 0;
        } else if (!input->in_line) {
            input->in_line = bytes[i] != TAG_WORD[input->n_matched++];
            if (input->in_line || input->n_matched < strlen(TAG_WORD))
                continue;
            input->in_line = true;
            if (++input->n_tag_directives > TAG_DIRECTIVES_MAX)
                return refuse_tag_directive(input, len - i - 1, err);
        }
    }
    return 0;
}

/* Reads enough to detect a byte order mark, and removes it. */
static int read_beginning(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                          struct err *err)
{
    size_t n = 0;
    size_t more = 1;
    while (n < strlen(BYTE_ORDER_MARK) && more > 0) {
        int r = input->read(input->context, bytes + n, size - n, &more, err);
        if (r < 0)
            return r;
        n += more;
    }
    if (n >= strlen(BYTE_ORDER_MARK) &&
        memcmp(bytes, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        n -= strlen(BYTE_ORDER_MARK);
        memmove(bytes, bytes + strlen(BYTE_ORDER_MARK), n);
        if (n == 0)
            return input->read(input->context, bytes, size, ret_n, err);
    }
    *ret_n = n;
    return 0;
}

int yaml_input_read(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                    struct err *err)
{
    size_t n = 0;
    int r = 0;
    if (!input->tail) {
        input->tail = mem_new(size);
        input->tail_size = size;
        r = read_beginning(input, bytes, size, &n, err);
    } else {
        forget_decoded(input, size);
        r = input->read(input->context, bytes, size, &n, err);
    }
    if (r < 0)
        return r;
    memcpy(input->tail + input->tail_len, bytes, n);
    input->tail_len += n;
    r = count_tag_directives(input, bytes, n, err);
    if (r == 0)
        *ret_n = n;
    return r;
}
