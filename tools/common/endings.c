/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/endings.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *tool;
} endings[] = {
    {"msh", "modalmesh"}, {"h5", "modalpack, modalsim or modaltled"}, {"json", "modaltex look"},
    {"html", "modalview"}, {"htm", "modalview"},
    {"png", "modalrender"}, {"exr", "modalrender"}, {"mp4", "modalrender"}, {"gif", "modalrender"}, {"y4m", "modalrender"},
    {"vtkhdf", "modaldeform"}, {"xdmf", "modaldeform OUT"}, {"glb", "modaldeform"}, {"pc2", "modaldeform"}, {"mdd", "modaldeform"},
    {"ply", "modaldeform"}, {"vtp", "modaldeform"}, {"vtu", "modaldeform"}, {"obj", "modaldeform"}, {"csv", "modaldeform"},
    {"wav", "modaldeform"}};
enum { ENDINGS = sizeof endings / sizeof *endings };

const char *tool_ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name ? dot : "";
}

int tool_ending_find(const char *path, const char *const *names, int n)
{
    const char *ending = tool_ending(path);
    for (int i = 0; *ending && i < n; i++)
        if (names[i] && strcasecmp(ending + 1, names[i]) == 0) return i;
    return -1;
}

static int is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *c = list; *c; c += strspn(c, " ")) {
        const size_t own = strcspn(c, " ");
        if (own == length && strncmp(c, name, own) == 0) return 1;
        c += own;
    }
    return 0;
}

modal_status tool_ending_check(const char *path, const char *program, const char *own, modal_error *err)
{
    for (int i = 0; i < ENDINGS; i++) {
        if (tool_ending_find(path, &endings[i].name, 1) != 0 || is_listed(own, endings[i].name)) continue;
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: %s makes no .%s (%s does)", path, program, endings[i].name, endings[i].tool);
    }
    return MODAL_OK;
}
