/* SPDX-License-Identifier: Apache-2.0 */
/* A meshing library that dies half way: what TetGen prints when it begins its second stage, then a signal. */
#include <signal.h>
#include <stdio.h>

int modalmesh_tetgen(void);

int modalmesh_tetgen(void)
{
    puts("Delaunizing vertices...\nRecovering boundaries...");
    return raise(SIGSEGV);
}
