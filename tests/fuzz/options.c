/* SPDX-License-Identifier: Apache-2.0 */
/* For a sanitizer: HDF5 1.10 forgets the header of an object whose checksum is wrong (its metadata cache reads it in
 * H5C_protect). To name that function alone, stacks have to be whole, which is slow: libFuzzer's programs pass over all
 * that HDF5 allocates; that no object stays open, the targets see themselves. And HDF5 allocates what a damaged file
 * says before it reads: it gets no more than 2 GiB. */
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

#ifdef MODAL_LIBFUZZER
const char *__lsan_default_suppressions(void) { return "leak:libhdf5\n"; }
const char *__asan_default_options(void)
{
    return HDF5 ? "print_suppressions=0:allocator_may_return_null=1:max_allocation_size_mb=2048" : "";
}
#else
const char *__lsan_default_suppressions(void) { return "leak:H5C_protect\n"; }
const char *__asan_default_options(void) { return "fast_unwind_on_malloc=0:print_suppressions=0"; }
#endif
