/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: what is said about surfaces and meshes, as text and in the JSON report. */
#ifndef TOOLS_MODALMESH_REPORT_H
#define TOOLS_MODALMESH_REPORT_H

#include "lib/mesh/check.h"
#include "lib/mesh/surface_check.h"
#include "lib/mesh/surface_repair.h"
#include "tools/common/tool.h"

void modalmesh_report_surface(tool *t, const modal_surface_summary *s, int print);
void modalmesh_report_repairs(tool *t, const modal_surface_repairs *r);
void modalmesh_report_mesh(tool *t, const modal_volume_mesh *mesh, const modal_mesh_summary *summary,
                           int print);

#endif
