# SPDX-License-Identifier: Apache-2.0
# Strict values out of JSON, and the file of materials.
add_library(modal_json STATIC json_place.c)
target_link_libraries(modal_json PUBLIC modal_base PkgConfig::JANSSON m)
add_library(modal_materials STATIC materials.c)
target_link_libraries(modal_materials PUBLIC modal_json modal_meshes)
