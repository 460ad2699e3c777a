/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of modaltex, a file each. */
#ifndef TOOLS_MODALTEX_H
#define TOOLS_MODALTEX_H

#include "tools/common/tool.h"

#define MODALTEX_COMMANDS "look pack build paint sample flow bake" /* with blanks between them: what the first operand is one of */

/* A command is a program of its own whose first operand is its name. `run` returns what main returns. */
typedef struct modaltex_command {
    const char *name;
    const tool_program *program;
    int (*run)(int argc, char **argv);
} modaltex_command;

extern const tool_program modaltex_look_program;
int modaltex_look(int argc, char **argv);

extern const tool_program modaltex_pack_program;
int modaltex_pack(int argc, char **argv);

extern const tool_program modaltex_build_program;
int modaltex_build(int argc, char **argv);

extern const tool_program modaltex_paint_program;
int modaltex_paint(int argc, char **argv);

extern const tool_program modaltex_sample_program;
int modaltex_sample(int argc, char **argv);

extern const tool_program modaltex_flow_program;
int modaltex_flow(int argc, char **argv);

extern const tool_program modaltex_bake_program;
int modaltex_bake(int argc, char **argv);

#endif
