# SPDX-License-Identifier: Apache-2.0
# Scenes, and the CSV files that they name.
add_library(modal_scenes STATIC scene.c)
target_link_libraries(modal_scenes PUBLIC modal_json modal_meshes modal_dynamics)
target_sources(modal_formats PRIVATE checkpoint_h5.c)
