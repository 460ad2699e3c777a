// SPDX-License-Identifier: Apache-2.0
#ifndef MODAL_TESTS_EMULATOR_H
#define MODAL_TESTS_EMULATOR_H

#include <stddef.h>

// Bytes of a result, for the hash that EMULATED_SUM asks for.
void emulated_add(const void *data, size_t bytes);

#endif
