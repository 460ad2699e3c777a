/* SPDX-License-Identifier: Apache-2.0 */
/* For a sanitizer: HDF5 1.10 forgets parts of metadata that it refuses, so what it allocates is passed over; that no object
 * stays open, the targets see themselves. And HDF5 allocates what a damaged file says before it reads: it gets no more
 * than 2 GiB. */
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

const char *__lsan_default_suppressions(void) { return "leak:libhdf5\n"; }
const char *__asan_default_options(void)
{
#ifdef MODAL_LIBFUZZER
    if (HDF5) return "print_suppressions=0:allocator_may_return_null=1:max_allocation_size_mb=2048";
#endif
    return "print_suppressions=0";
}
