/* SPDX-License-Identifier: Apache-2.0 */
/* modalsim: from a modal basis and loads, or a scene, to a trajectory of reduced coordinates. */

#include "formats/h5/h5_util.h"
#include "lib/base/memory.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/parts.h"
#include "tools/modalsim/modalsim.h"

static const tool_option options[] = {
    {"duration", 0, "S", NULL, "Simulated time in seconds; with --fps. Without loads, where the objects are plucked, either may be left out.", TOOL_FIRST},
    {"fps", 0, "F", NULL, "Frames a second: at t = i / F, i = 0, 1 ... up to the duration.", TOOL_FIRST},
    {"damping", 0, "ALPHA,BETA", NULL,
     "Rayleigh damping C = ALPHA M + BETA K, in 1/s and s. Without it and --damping-ratio the motion "
     "is undamped.",
     0},
    {"damping-ratio", 0, "Z", NULL, "The same damping ratio for all modes; 1 is critical.", TOOL_FIRST},
    {"gravity", 0, "X,Y,Z", NULL, "Uniform acceleration in m/s^2, from t = 0 on, of every object.", TOOL_FIRST},
    {"impulse", 0, "WHERE:X,Y,Z[@T]", NULL,
     "Impulse in N s on object 0 at T seconds, WHERE is a vertex or a point x,y,z. T is 0 by default, right after frame 0. "
     "A vertex is one of the deformed surface, counted from 0 in the user's order; a point stands for the vertex nearest "
     "to it at rest. May be repeated.",
     TOOL_REPEATABLE | TOOL_FIRST},
    {"base-acceleration", 0, "FILE", NULL,
     "Acceleration of the support of every object: CSV lines t,ax,ay,az in s and m/s^2, straight "
     "lines between them, 0 before the first and after the last.",
     TOOL_READS},
    {"initial", 0, "MODE=Q", NULL,
     "Reduced coordinate of a mode (counted from 0) of every object at t = 0, in sqrt(kg) m. May be "
     "repeated, once for each mode.",
     TOOL_REPEATABLE | TOOL_FIRST},
    {"static", 0, NULL, NULL,
     "Start in static equilibrium under the gravity and the base acceleration at t = 0. Without "
     "--duration write that one frame.",
     0},
    {"amplitude", 0, "P%", NULL,
     "Multiply all loads, those above or of a linear scene, so that the largest displacement of all frames is this share of the diagonal of the box "
     "around its object at rest. Without loads: how far each object is plucked.",
     TOOL_FIRST},
    {"set", 0, "/POINTER=VALUE", NULL,
     "Change a value of the scene, or add one: a JSON pointer and JSON, /wind/seed=17.", TOOL_REPEATABLE},
    {"scene", 0, "FILE", NULL,
     "A scene (JSON, formats/scene.md) instead of the options above. It has large deformations, wind, forces and ground over "
     "time, moving and free objects, objects that hang on others. One with \"response\" makes a table (CSV) in "
     "the place of TRAJ: amplitudes and phases over frequencies.",
     TOOL_READS | TOOL_FIRST},
    {"rebase", 0, "TRAJ.h5", NULL,
     "No new motion: that of TRAJ, made for another basis of the same solids, is carried over to BASIS: of all motions "
     "that BASIS has the nearest one in the norm of the mass matrix. Both need modes at the nodes. The largest error of "
     "each object is said and kept in the new trajectory.",
     TOOL_READS},
    {"project", 0, "SNAPSHOTS.h5", NULL,
     "No new motion: that of SNAPSHOTS, displacements of all nodes (modaltled), in the coordinates of BASIS, whose solid must be the same: "
     "of all motions that BASIS has the nearest one in the norm of the mass matrix. The errors of every frame are said and kept.",
     TOOL_READS},
    {"basis", 0, "OLD.h5", NULL, "With --rebase: the basis of TRAJ, where its own link does not lead to it.", TOOL_READS},
    {"backend", 0, "NAME", "auto",
     "With --scene: auto, ref, cpu, cuda or cuda:N.", 0},
    TOOL_OPTION_THREADS,
    {"memory-limit", 0, "SIZE", NULL,
     "Most main memory for the basis and what is made of it, e.g. 800M or 4G; frames take none, but for those "
     "that go to standard output.",
     0},
    {"checkpoint", 0, "FILE", NULL, "With --scene: keep there all that the run needs to go on.", TOOL_WRITES},
    {"checkpoint-every", 0, "N", "100", "Frames between checkpoints.", 0},
    {"restart", 0, "FILE", NULL,
     "With --scene: go on from a checkpoint of the same basis and scene, to the same bytes.", TOOL_READS},
    TOOL_OPTION_PARTS,
    {"keep-partial", 0, NULL, NULL,
     "With --scene: when the motion fails or a signal comes, write the trajectory up to there.", 0},
    {"quality", 0, "LEVEL", "auto",
     "What is measured of how far each frame may be trusted. steps: the steps alone, and the motion is not judged; auto: what the basis leaves "
     "out of the loads, and how strongly solids are deformed, where they are not so large that it takes long; full: of all of them.",
     0},
    {"require-ok", 0, NULL, NULL,
     "End with exit code 5 unless the motion is ok: all that it needs was measured and is within the limits. What was made is written all "
     "the same.",
     0},
    {"velocities", 0, NULL, NULL,
     "Keep the velocities of the reduced coordinates and of the frames, too, for modaldeform --fields speed at any frame rate. The trajectory is twice as "
     "large.",
     0},
    {"allow-inversion", 0, NULL, NULL,
     "Elements that are turned inside out (det F < 0) do not end the motion.", 0},
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON_WITH("man|bash|zsh|scene", " With scene and BASIS.h5: a scene that runs, with comments."),
    {0},
};

static const tool_program program = {
    .name = "modalsim",
    .summary = "moves a modal basis under loads and writes the trajectory",
    .usage = "[options] BASIS.h5 TRAJ.h5\n--generate scene BASIS.h5",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5 csv",
    .notes =
        "Each mode is a damped oscillator, q'' + 2 zeta omega q' + omega^2 q = f(t), solved exactly for\n"
        "loads that are linear between their breakpoints: there is no time-step error, and the frame\n"
        "rate does not change the motion. Vectors and points are in world axes; an object at an angle\n"
        "gets them turned into its own. Under a base acceleration the motion is relative to the\n"
        "support. A TRAJ that is written to a pipe, or made of a BASIS that came from one, carries BASIS.\n"
        "Without loads, --initial, --static and --scene each\n"
        "object is let go out of its lowest mode: --amplitude of its size, by default 10% or as much less\n"
        "as keeps the motion ok; for two seconds or twenty periods, whichever is shorter.",
    .examples = "modalsim fork.h5 plucked.h5\n"
                "modalsim fork.h5 ring.h5 --duration 2 --fps 240 --damping-ratio 0.001 --impulse 17:0,0,0.1\n"
                "modalsim bridge.h5 quake.h5 --duration 30 --fps 60 --damping 0.1,1e-4 \\\n"
                "    --gravity 0,0,-9.81 --static --base-acceleration record.csv\n"
                "modalsim new.h5 new_ring.h5 --rebase ring.h5\n"
                "modalsim liver.h5 liver_traj.h5 --project snapshots.h5\n"
                "modalsim bridge.h5 response.csv --scene response.json\n"
                "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modaldeform - out",
    .first_examples = "modalsim fork.h5 plucked.h5\n"
                      "modalsim fork.h5 ring.h5 --duration 2 --fps 240 --damping-ratio 0.001 --impulse 17:0,0,0.1\n"
                      "modalsim bridge.h5 response.csv --scene response.json\n"
                      "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modaldeform - out",
    .library = modal_h5_version,
    .generate = modalsim_generate,
};

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modalsim_request r = {0};
    tool_output output = {0};

    MODAL_TRY(modalsim_read_request(&t, &r, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
    MODAL_TRY(tool_output_begin(&output, r.trajectory_path, r.force, &err));
    MODAL_TRY(tool_take_hdf5(&r.basis_path, &err));
    status = r.rebase_path    ? modalsim_rebase(&t, &r, &output, &err)
             : r.project_path ? modalsim_project(&t, &r, &output, &err)
                              : modalsim_scene(&t, &r, &output, &err);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_free(&r.impulses);
    modal_free(&r.sets);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
