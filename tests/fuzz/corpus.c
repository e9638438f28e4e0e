/*
 * corpus: gives each file of a folder to a fuzz target, without libFuzzer.
 *
 *     corpus_NAME FOLDER
 *
 * Prints the name of each file before the target gets it, so the last one printed is the one that
 * failed. Exits with 1 if there is none.
 */
#include "base/err.h"
#include "base/file_watch.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Only some targets have it. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

#define FILE_BYTES_MAX (64U << 20)
#define PATH_BYTES_MAX 4096

/* The target gets a copy of exactly that size: AddressSanitizer then sees a read past its end. */
static void feed(const char *folder, const char *name)
{
    struct buf text CLEANUP(buf_fini);
    char path[PATH_BYTES_MAX];
    struct err err;
    buf_init(&text, FILE_BYTES_MAX);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    puts(path);
    fflush(stdout);
    if (small_file_read(path, false, &text, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    uint8_t *data = mem_new(text.len);
    memcpy(data, buf_text(&text), text.len);
    LLVMFuzzerTestOneInput(data, text.len);
    free(data);
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    struct dirent **entries = NULL;
    int n = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1, n_files = 0;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            feed(argv[1], entries[i]->d_name);
            n_files++;
        }
        free(entries[i]);
    }
    free(entries);
    return n_files > 0 ? 0 : 1;
}
