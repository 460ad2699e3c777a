/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_X [--digests] FOLDER...: every file of the folders through LLVMFuzzerTestOneInput, for compilers that
 * have no fuzzer. Each input lies in memory of exactly its size, so that a sanitizer sees reads
 * beyond it. --digests prints the name of each file before it is read, and afterwards what the target says of it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern uint64_t fuzz_digest __attribute__((weak));
static int prints;

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    long size = ftell(file);
    if (size < 0) { /* a folder */
        fclose(file);
        return 0;
    }
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    const char *name = strrchr(path, '/');
    if (prints) printf("%s ", name ? name + 1 : path);
    fflush(stdout);
    if (&fuzz_digest) fuzz_digest = 0xcbf29ce484222325u;
    LLVMFuzzerTestOneInput(data, (size_t)size);
    if (prints) printf("%016llx\n", (unsigned long long)(&fuzz_digest ? fuzz_digest : 0));
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int n_inputs = 0;
    prints = argc > 1 && strcmp(argv[1], "--digests") == 0;
    for (int i = 1 + prints; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            fprintf(stderr, "%s: no such folder\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            if (entry->d_name[0] == '.' || entry->d_type == DT_DIR) continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            n_inputs += replay(path);
        }
        closedir(folder);
    }
    printf("%d inputs\n", n_inputs);
    return n_inputs > 0 ? 0 : 1;
}
