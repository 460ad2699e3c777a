/* SPDX-License-Identifier: Apache-2.0 */
/* modalrender: from a trajectory and its basis to pictures, without a display and without a file of vertices between. */
#include <inttypes.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "formats/h5/h5_util.h"
#include "formats/images/exr_write.h"
#include "formats/images/png_write.h"
#include "tools/common/back_ends.h"
#include "tools/common/parts.h"
#include "tools/modalrender/modalrender.h"

static const tool_option options[] = {
    {"basis", 0, "FILE", NULL, "The basis, where the trajectory's own link does not lead to it.", TOOL_READS},
    TOOL_OPTION_PARTS,
    TOOL_OPTION_LOOK,
    TOOL_OPTION_ANY_PATH,
    {"camera", 0, "NAME", NULL, "Of the look's cameras (default: the first one; without a look, one that sees all frames).", TOOL_FIRST},
    {"size", 0, "WxH", "960x540", "Of the pictures, pixels.", TOOL_FIRST},
    {"samples", 0, "1|4|8", "4", "Of a pixel, where edges are found.", TOOL_FIRST},
    {"shadow", 0, "vsm|hard|none", "vsm", "Shadows with soft edges (variance shadow maps), hard ones, or none.", TOOL_FIRST},
    {"shadow-size", 0, "N", "2048", "Texels of a side of a shadow map, 512 to 8192.", 0},
    {"shadow-width", 0, "N", "4", "Of vsm: texels on each side over which an edge is softened, 0 to 16.", 0},
    {"transparency", 0, "sorted|two-pass", "sorted",
     "sorted: what is seen through is sorted in each sample; two-pass, for comparison: what has more alpha than --shadow-alpha first, then the "
     "rest in the order of triangles.",
     0},
    {"shadow-alpha", 0, "ALPHA", "0.5", "What is blended throws a shadow where its alpha exceeds this, 0 to 1.", 0},
    {"turntable", 0, NULL, NULL, "The camera turns around what it sees, once over all frames.", 0},
    {"up", 0, "y|z", "z", "The axis that points upwards, where no LOOK.json says it.", 0},
    {"crease", 0, "DEG|vn", "40",
     "Edges that are sharper than this at rest are hard, degrees, 0 to 180; vn: those where the .obj that modalpack read has several normals.", 0},
    {"texture", 0, "auto|octree|atlas", "auto",
     "Of materials that have an octree texture and an image of it: auto takes the image where its texels are smaller than a pixel.", 0},
    {"format", 0, "png|exr|y4m|rgb|null", "png",
     "png: OUT/png/NNNNNN.png; exr: OUT/exr/NNNNNN.exr, linear light, with depths and --buffers as channels; "
     "y4m and rgb (8 bits, row after row) go to standard output, OUT is -; null: no pictures.", TOOL_FIRST},
    {"buffers", 0, "LIST", NULL,
     "Also OUT/NAME/NNNNNN.npy of these: colour (linear light), depth (m along the view), normal, position (m), motion (pixels, from the "
     "frame before), object, triangle (the user's number in its object; -1: none).",
     TOOL_FIRST},
    {"bits", 0, "8|16", "8", "Of each colour of png.", 0},
    {"exr-floats", 0, NULL, NULL, "Colours of exr in 32 bits, not 16.", 0},
    {"rate", 0, "FPS", NULL, "Frames a second of y4m, mp4 and gif (default: as in the trajectory where that is from 1 to 120, else 25).", 0},
    {"normals", 0, "rigid|dynamic", "dynamic", "rigid: as at rest, turned with each object; dynamic: of the deformed surface.", 0},
    {"modes", 0, "LIST", NULL,
     "Of a basis: these modes swing, 0,2,5-8, one after the other, 32 frames and a second each (--amplitude alone: all).", 0},
    {"amplitude", 0, "P%", "5%", "How far: the largest displacement of a mode, as a share of the box's diagonal.", 0},
    {"frames", 0, "A:B:STEP", NULL, "Frames to draw, as Python slices them: 10:20, ::5, -1: and so on, or one index.", TOOL_FIRST},
    {"shard", 0, "I/N", NULL,
     "Of these frames the I-th of N parts, I from 0, for arrays of jobs: each in an OUT of its own, numbered as in the whole; auto takes I and N, "
     "auto/N takes I from mpirun, srun or an array of jobs.", 0},
    {"resume", 0, NULL, NULL, "Keep complete frames when the run is stopped; the same command goes on after them.", 0},
    {"pick", 0, "X,Y[,FRAME]", NULL, "What is at a pixel (from the upper left, 0) of a frame, as JSON on standard output; OUT is -.", 0},
    {"backend", 0, "NAME", "auto",
     "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N; several GPUs as cuda:0,1 or cuda:all.", 0},
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    fprintf(to, "%s\n%s\n%s\n", modal_h5_version(), modal_png_library(), modal_exr_library());
    tool_print_back_ends(to);
}

static int is_divided(const tool_arguments *a) { return tool_count(a, "shard") > 0; }

static const tool_program program = {
    .name = "modalrender",
    .summary = "draws the frames of a trajectory, or a basis at rest, as pictures",
    .usage = "[options] TRAJ OUT",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "png exr mp4 gif y4m",
    .divided_by = "--shard auto",
    .is_divided = is_divided,
    .notes = "TRAJ is a trajectory; a basis, which is drawn at rest or, with --modes, swinging; snapshots with\n"
             "their solid; or a sequence.vtkhdf. OUT is a folder, made if absent:\n"
             "png/000000.png and so on, what --buffers asks for, and manifest.json, which is written last; or -\n"
             "for y4m and rgb; or one file: film.mp4, film.gif (by ffmpeg), film.y4m, one.png, one.exr. Materials,\n"
             "images, lights and cameras are those of --look (formats/look.md).",
    .examples = "modalrender ring.h5 out\n"
                "modalrender ring.h5 out --look ring.json --camera front --size 1920x1080 --samples 8\n"
                "modalrender ring.h5 ring.mp4 --turntable\n"
                "modalrender basis.h5 modes --modes 0-3 --amplitude 10%\n"
                "modalrender ring.h5 out --frames 0 --shadow hard --buffers depth,normal,object\n"
                "modalrender ring.h5 - --pick 480,270,15 --camera front --look ring.json\n"
                "modalrender ring.h5 - --format y4m | ffmpeg -i - -vf setparams=colorspace=bt709 ring.mp4",
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modalrender_request r = {0};
    modalrender_input in = {.hdf5 = PTHREAD_MUTEX_INITIALIZER};
    modalrender_outputs out = {.journal = {.file = -1}, .film = MODALRENDER_NO_FILM};

    MODAL_TRY(modalrender_read_request(&t, &r, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
#ifdef __GLIBC__
    if (r.memory_limit > 0) mallopt(M_MMAP_THRESHOLD, 1 << 17); /* what is freed goes back to the system at once */
#endif
    MODAL_TRY(modalrender_begin_outputs(&r, &out, &err));
    MODAL_TRY(modalrender_read_inputs(&t, &r, &in, &err));
    MODAL_TRY(modalrender_run(&t, &r, &in, &out, &err));
    if (!r.to_stdout)
        tool_note(&t, "%s: %" PRId64 " frame%s of %d x %d, %.3f MB", r.folder, in.n - in.lead, in.n - in.lead == 1 ? "" : "s", r.width, r.height,
                  1e-6 * (double)out.bytes);
done:
    modalrender_end_outputs(&t, &r, &in, &out, &err);
    modalrender_free_inputs(&in);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
