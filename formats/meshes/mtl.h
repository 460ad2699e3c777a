/* SPDX-License-Identifier: Apache-2.0 */
/* Materials in Wavefront's MTL format, as those of a look (formats/look.md). */
#ifndef MODAL_FORMATS_MTL_H
#define MODAL_FORMATS_MTL_H

#include "lib/base/status.h"
#include "lib/model/look.h"

/* Appends the materials of a .mtl to a look, in the order of the file.
 *   newmtl NAME           to the end of the line; a name that the look has already is refused
 *   Ka, Kd, Ks r [g b]    ambient, diffuse, specular, numbers from 0 on; without Ka it is Kd
 *   Ns                    shininess, 0 to 10000
 *   d, Tr                 opacity, and 1 - opacity; below 1 the alpha mode is blend
 *   map_Kd FILE           image; map_Bump, map_bump, bump, norm FILE: normal image; names go to the end of the line, \ is taken as /
 *   map_d FILE            where it is the image of map_Kd: blend; another one is refused
 * Of a map's options -clamp on is wrap clamp, -o and -s are refused unless they change nothing, others mean nothing here. Ke, Ni, illum
 * and other statements are ignored, spectral and xyz colours refused.
 *
 * `folder`: what names of images get in front, "" or ending in / (the .mtl's, seen from the look's folder). any_path: they may lead anywhere; else
 * one that is not below the look's folder is refused. MODAL_ERROR_INPUT "NAME:LINE: what, value"; after an error the look has what was
 * read before it, and the caller frees it. Thread-safe. */
modal_status modal_mtl_parse(const char *data, int64_t length, const char *name, const char *folder, int any_path, modal_look *look,
                             modal_error *err);
modal_status modal_mtl_read(const char *path, const char *folder, int any_path, modal_look *look, modal_error *err);

#endif
