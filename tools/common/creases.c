/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/creases.h"

#include <string.h>

modal_status tool_creases_read(const tool_arguments *a, modal_crease_rule *rule, modal_error *err)
{
    const char *text = tool_value(a, "crease");
    if (!text || strcmp(text, "vn") != 0) return tool_number(a, "crease", 0, 180, &rule->degrees, err);
    *rule = (modal_crease_rule){.degrees = 180, .by_normals = 1};
    return MODAL_OK;
}

modal_status tool_creases_check(tool *t, modal_crease_rule rule, const modal_basis *basis, const char *path, modal_error *err)
{
    int32_t without = 0;
    if (!rule.by_normals) return MODAL_OK;
    for (int32_t i = 0; i < basis->n_shapes; i++) without += basis->shapes[i].look.triangle_normal == NULL;
    if (without == basis->n_shapes)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: --crease vn: no shape has normals of its .obj (vn at every corner, as modalpack --surface read it)",
                               path);
    if (without > 0) tool_warn(t, "%s: --crease vn: shapes without normals of an .obj, whose edges are all smooth, %d of %d", path, without, basis->n_shapes);
    return MODAL_OK;
}
