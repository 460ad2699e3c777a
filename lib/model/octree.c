/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/octree.h"

#include "lib/base/memory.h"
#include "lib/model/octree_atlas.h"
#include "lib/model/octree_flow.h"

const char *modal_octree_channels_name(modal_octree_channels channels)
{
    static const char *const names[MODAL_OCTREE_CHANNELS] = {"rgba8", "float", "float3"};
    return names[channels];
}

void modal_octree_free(modal_octree *octree)
{
    modal_free(&octree->node_offsets);
    modal_free(&octree->cells);
    modal_free(&octree->keys);
    modal_free(&octree->values);
    modal_free(&octree->mipmaps);
    modal_free(&octree->triangles);
    modal_free(&octree->barycentric);
    modal_free(&octree->areas);
    modal_free(&octree->neighbours);
    *octree = (modal_octree){0};
}

void modal_flow_state_free(modal_flow_state *state)
{
    modal_free(&state->liquid);
    modal_free(&state->wetness);
    modal_free(&state->dirt);
    modal_free(&state->trajectory_hash);
    modal_free(&state->settings);
    *state = (modal_flow_state){0};
}

void modal_octree_atlas_free(modal_octree_atlas *atlas)
{
    modal_free(&atlas->uv);
    modal_free(&atlas->triangle_uv);
    modal_free(&atlas->image);
    modal_free(&atlas->texels);
    modal_free(&atlas->samples);
    modal_free(&atlas->triangles);
    modal_free(&atlas->places);
    *atlas = (modal_octree_atlas){0};
}
