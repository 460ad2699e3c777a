/* SPDX-License-Identifier: Apache-2.0 */
/* Solids that tools read: groups of the mesh by their names. */
#include <stdio.h>
#include <string.h>

#include "tools/common/solid.h"

modal_status tool_find_group(const modal_volume_mesh *mesh, const char *name, size_t length,
                                  int dimension, const modal_group **group, modal_error *err)
{
    *group = NULL;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (strlen(g->name) != length || memcmp(g->name, name, length) != 0) continue;
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (*group)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "group %s: two of that name, say which: %d:%s or %d:%s", g->name,
                                   (*group)->dimension, g->name, g->dimension, g->name);
        *group = g;
    }
    if (!*group && dimension < 0 && length > 2 && name[0] >= '0' && name[0] <= '3' && name[1] == ':')
        return tool_find_group(mesh, name + 2, length - 2, name[0] - '0', group, err);
    return MODAL_OK;
}

modal_status tool_unknown_group(const modal_volume_mesh *mesh, const char *option, const char *what,
                                     const char *name, int length, int dimension, modal_error *err)
{
    char known[512] = "none";
    size_t used = 0;
    int32_t n_left = 0;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (n_left > 0 || used + strlen(g->name) + 32 > sizeof known)
            n_left++;
        else
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     g->name);
    }
    if (n_left > 0)
        snprintf(known + used, sizeof known - used, "%s%d more", used ? " and " : "", n_left);
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %s, %.*s (known groups: %s)", option, what, length, name,
                           known);
}
