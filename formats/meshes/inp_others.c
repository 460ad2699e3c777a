/* SPDX-License-Identifier: Apache-2.0 */
/* What an .inp file says that is neither mesh nor material nor condition: whether the solid would move otherwise with it. Keywords are those of
 * the manuals of CalculiX 2.20 and Abaqus; one that is not here counts as not supported. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"

/* ---- what is known of keywords ---- */

/* Names without blanks, a comma before and after each. */
static const struct {
    modal_unsupported kind;
    const char *names;
} unsupported[] = {
    {MODAL_UNSUPPORTED_CONSTRAINTS,
     ",EQUATION,EQUATIONF,MPC,NETWORKMPC,RIGIDBODY,COUPLING,KINEMATICCOUPLING,DISTRIBUTINGCOUPLING,SHELLTOSOLIDCOUPLING,TIE,"
     "CONTACTPAIR,CONTACT,CONTACTINCLUSIONS,CONTACTEXCLUSIONS,CONTACTCONTROLS,CONTACTCONTROLSASSIGNMENT,CONTACTFORMULATION,"
     "CONTACTINITIALIZATIONASSIGNMENT,CONTACTINITIALIZATIONDATA,CONTACTINTERFERENCE,CONTACTPROPERTYASSIGNMENT,CONTACTSTABILIZATION,"
     "CLEARANCE,CYCLICSYMMETRYMODEL,SELECTCYCLICSYMMETRYMODES,EMBEDDEDELEMENT,FASTENER,PRE-TENSIONSECTION,"},
    {MODAL_UNSUPPORTED_ELEMENTS,
     ",SPRING,DASHPOT,GAP,FOUNDATION,MASS,POINTMASS,MASSADJUST,ROTARYINERTIA,NONSTRUCTURALMASS,FIXEDMASSSCALING,VARIABLEMASSSCALING,"
     "SHELLSECTION,SHELLGENERALSECTION,BEAMSECTION,BEAMGENERALSECTION,FRAMESECTION,MEMBRANESECTION,SURFACESECTION,"
     "COHESIVESECTION,CONNECTORSECTION,GASKETSECTION,REBAR,REBARLAYER,MODELCHANGE,USERELEMENT,USERSECTION,SUBSTRUCTUREGENERATE,"
     "SUBSTRUCTUREPROPERTY,MATRIXASSEMBLE,MATRIXINPUT,"},
    {MODAL_UNSUPPORTED_PRELOAD, ",INITIALSTRAININCREASE,COMPLEXFREQUENCY,IMPERFECTION,"},
    {MODAL_UNSUPPORTED_MATERIAL,
     ",PLASTIC,CYCLICHARDENING,CYCLICPLASTIC,DEFORMATIONPLASTICITY,HYPERELASTIC,HYPERFOAM,HYPOELASTIC,POROUSELASTIC,SUPERELASTIC,"
     "ANISOTROPICHYPERELASTIC,LOWDENSITYFOAM,MULLINSEFFECT,CREEP,VISCOUS,VISCOELASTIC,RATEDEPENDENT,POTENTIAL,ANNEALTEMPERATURE,"
     "CAPPLASTICITY,CAPHARDENING,CASTIRONPLASTICITY,CLAYPLASTICITY,CLAYHARDENING,CONCRETE,CONCRETEDAMAGEDPLASTICITY,"
     "CONCRETECOMPRESSIONHARDENING,CONCRETETENSIONSTIFFENING,CRUSHABLEFOAM,DRUCKERPRAGER,DRUCKERPRAGERHARDENING,MOHRCOULOMB,"
     "MOHRCOULOMBHARDENING,DAMAGEINITIATION,DAMAGEEVOLUTION,NOCOMPRESSION,NOTENSION,COMPRESSIONONLY,EOS,DAMPING,EXPANSION,SWELLING,"
     "ACOUSTICMEDIUM,PIEZOELECTRIC,USERMATERIAL,"},
};

/* With or without these a solid has the same modes: texts, output, the course of an analysis, loads, heat, what parameters of others mean. */
static const char without_effect[] =
    ",HEADING,PREPRINT,PRINT,MONITOR,RESTART,FILEFORMAT,FILEOUTPUT,FILTER,TIMEPOINTS,OUTPUT,NODEOUTPUT,ELEMENTOUTPUT,CONTACTOUTPUT,"
    "ENERGYOUTPUT,MODALOUTPUT,SURFACEOUTPUT,INTEGRATEDOUTPUT,INTEGRATEDOUTPUTSECTION,INCREMENTATIONOUTPUT,NODEPRINT,NODEFILE,ELPRINT,"
    "ELFILE,ELEMENTMATRIXOUTPUT,CONTACTPRINT,CONTACTFILE,ENERGYPRINT,ENERGYFILE,MODALPRINT,MODALFILE,SECTIONPRINT,SECTIONFILE,FACEPRINT,"
    "RADIATIONPRINT,RADIATIONFILE,STRAINTYPE,"
    /* names, places, tables */
    "ENDPART,ENDINSTANCE,ASSEMBLY,ENDASSEMBLY,SURFACE,NODALTHICKNESS,NORMAL,DISTRIBUTION,DISTRIBUTIONTABLE,DISTRIBUTING,KINEMATIC,"
    "SECTIONCONTROLS,HOURGLASSSTIFFNESS,REFINEMESH,SUBMODEL,TRANSFORMF,SURFACEFLAW,"
    /* of contact, which its own keywords ask for */
    "SURFACEINTERACTION,SURFACEBEHAVIOR,SURFACESMOOTHING,FRICTION,CHANGEFRICTION,CHANGESURFACEBEHAVIOR,CHANGECONTACTTYPE,CONTACTDAMPING,"
    "GAPCONDUCTANCE,GAPHEATGENERATION,GAPRADIATION,COHESIVEBEHAVIOR,"
    "CONNECTORBEHAVIOR,CONNECTORELASTICITY,CONNECTORDAMPING,CONNECTORCONSTITUTIVEREFERENCE,CONNECTORLOAD,"
    /* steps; one that stresses the solid for a later one is kept (see_step) */
    "STEP,ENDSTEP,STATIC,VISCO,DYNAMIC,MODALDYNAMIC,STEADYSTATEDYNAMICS,RANDOMRESPONSE,RESPONSESPECTRUM,SPECTRUM,BUCKLE,FREQUENCY,"
    "GEOSTATIC,HEATTRANSFER,COUPLEDTEMPERATURE-DISPLACEMENT,UNCOUPLEDTEMPERATURE-DISPLACEMENT,COUPLEDTHERMAL-ELECTRICAL,"
    "ELECTROMAGNETICS,GREEN,SENSITIVITY,NOANALYSIS,CONTROLS,SOLUTIONTECHNIQUE,SOLVERCONTROLS,BULKVISCOSITY,INERTIARELIEF,STEPCONTROLS,"
    "ADAPTIVEMESH,ADAPTIVEMESHCONTROLS,SELECTEIGENMODES,MODALDAMPING,GLOBALDAMPING,CRACKPROPAGATION,HCF,DESIGNVARIABLES,DESIGNRESPONSE,"
    "OBJECTIVE,CONSTRAINT,GEOMETRICCONSTRAINT,FEASIBLEDIRECTION,CORRELATIONLENGTH,ROBUSTDESIGN,GEOMETRICTOLERANCES,"
    /* loads */
    "AMPLITUDE,MASSFLOW,CLOAD,DLOAD,DSLOAD,TEMPERATURE,FIELD,BASEMOTION,CORRELATION,PSD-DEFINITION,CFLUX,DFLUX,DSFLUX,FILM,SFILM,CFILM,RADIATE,"
    "SRADIATE,CRADIATE,DEFINEPSD,INCIDENTWAVE,"
    /* heat, fluids, electricity; damage that ends an analysis */
    "CONDUCTIVITY,SPECIFICHEAT,LATENTHEAT,HEATGENERATION,INELASTICHEATFRACTION,JOULEHEATFRACTION,FLUIDCONSTANTS,FLUIDSECTION,"
    "SPECIFICGASCONSTANT,PHYSICALCONSTANTS,VALUESATINFINITY,VIEWFACTOR,CAVITYDEFINITION,EMISSIVITY,ELECTRICALCONDUCTIVITY,"
    "MAGNETICPERMEABILITY,DIELECTRIC,PERMEABILITY,DIFFUSIVITY,SOLUBILITY,FAILSTRAIN,FAILSTRESS,DEPVAR,USEROUTPUTVARIABLES,";

/* Of *INITIAL CONDITIONS: where a motion begins, and fields that move nothing. */
static const char initial_without_effect[] =
    ",VELOCITY,DISPLACEMENT,ROTATINGVELOCITY,FIELD,PRESSURE,TOTALPRESSURE,MASSFLOW,FLUIDVELOCITY,TEMPERATURE,";

/* Analyses that stress the solid. */
static const char loading[] = ",STATIC,VISCO,DYNAMIC,GEOSTATIC,COUPLEDTEMPERATURE-DISPLACEMENT,UNCOUPLEDTEMPERATURE-DISPLACEMENT,";

static int is_among(inp_word word, const char *names)
{
    char name[64] = ",";
    size_t n = 1;
    for (int64_t i = 0; i < word.length; i++) {
        if (word.text[i] == ' ' || word.text[i] == '\t') continue;
        if (n + 2 == sizeof name) return 0;
        name[n++] = (char)toupper((unsigned char)word.text[i]);
    }
    name[n] = ',';
    return n > 1 && strstr(names, name) != NULL;
}

/* ---- what is kept ---- */

modal_status inp_leave_out(inp_reader *reader, modal_unsupported kind, inp_place at, const char *format, ...)
{
    enum { MOST = 256 }; /* texts that differ; the rest is counted in the last one of its kind */
    modal_status status = MODAL_OK;
    char text[MODAL_NOTE_BYTES];
    int64_t i;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (int tries = 0; tries < 2; tries++) {
        for (i = 0; i < reader->n_others; i++)
            if (reader->others[i].kind == kind && strcmp(reader->others[i].text, text) == 0) {
                reader->others[i].n++;
                return MODAL_OK;
            }
        if (reader->n_others < MOST) break;
        strcpy(text, "others");
    }
    MODAL_TRY(modal_grow(&reader->others, &reader->other_capacity, reader->n_others + 1, sizeof *reader->others, "keywords",
                         reader->text.err));
    reader->others[reader->n_others] = (inp_other){.kind = kind, .at = at, .n = 1};
    MODAL_TRY(modal_copy_text(&reader->others[reader->n_others].text, text, SIZE_MAX, reader->text.err));
    reader->n_others++;
done:
    return status;
}

/* The step's own line. */
static void begin_step(inp_reader *reader, inp_keyword *keyword)
{
    inp_history *history = &reader->history;
    const inp_word *nonlinear = inp_parameter(keyword, "NLGEOM");
    reader->n_steps++;
    history->perturbation = inp_parameter(keyword, "PERTURBATION") != NULL;
    history->nonlinear = nonlinear && !inp_is(*nonlinear, "NO");
    history->frequency = 0;
}

/* A step that stresses the solid, and a later one of small motions around that state: CalculiX takes the state where the later step has
 * PERTURBATION, Abaqus where the earlier one had NLGEOM. Loads of a step of *FREQUENCY with PERTURBATION count likewise. */
static modal_status see_step(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    inp_history *history = &reader->history;
    char name[MODAL_QUOTE];
    modal_quote(name, keyword->name.text, keyword->name.length);
    const int frequency = inp_is(keyword->name, "FREQUENCY");
    if (inp_is(keyword->name, "STEP")) begin_step(reader, keyword);
    if (history->is_loaded && (history->perturbation ? inp_is(keyword->name, "STEP") : history->is_nonlinear && frequency))
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_PRELOAD, history->at, "*%s before *%s%s", history->name, name,
                                frequency ? "" : ", PERTURBATION"));
    if (frequency) history->frequency = 1;
    if (history->perturbation && history->frequency && is_among(keyword->name, ",CLOAD,DLOAD,DSLOAD,TEMPERATURE,"))
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_PRELOAD, keyword->at, "*%s of *FREQUENCY", name));
    if (is_among(keyword->name, loading) && !history->perturbation) {
        if (!history->is_loaded) {
            history->at = keyword->at;
            strcpy(history->name, name);
        }
        history->is_loaded = 1;
        history->is_nonlinear |= history->nonlinear;
    }
done:
    return status;
}

modal_status inp_skip(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    char name[MODAL_QUOTE];
    const inp_word *type = inp_parameter(keyword, "TYPE");
    size_t i = 0;
    modal_quote(name, keyword->name.text, keyword->name.length);
    MODAL_TRY(see_step(reader, keyword));
    if (inp_is(keyword->name, "INITIALCONDITIONS")) {
        if (!type || !is_among(*type, initial_without_effect))
            MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_PRELOAD, keyword->at, "*%s", name));
    } else if (!is_among(keyword->name, without_effect)) {
        while (i < sizeof unsupported / sizeof *unsupported && !is_among(keyword->name, unsupported[i].names)) i++;
        const int known = i < sizeof unsupported / sizeof *unsupported;
        MODAL_TRY(inp_leave_out(reader, known ? unsupported[i].kind : MODAL_UNSUPPORTED_KEYWORDS, keyword->at, "*%s", name));
    }
    inp_skip_data(reader);
done:
    return status;
}

/* ---- the end ---- */

modal_status inp_finish_others(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    for (int64_t i = 0; i < reader->n_others; i++) {
        const inp_other *other = &reader->others[i];
        char place[MODAL_NOTE_BYTES], more[48] = "";
        if (other->at.file == reader->text.name) snprintf(place, sizeof place, "line %lld", (long long)other->at.line);
        else snprintf(place, sizeof place, "%.400s:%lld", other->at.file, (long long)other->at.line);
        if (other->n > 1) snprintf(more, sizeof more, " and %lld more", (long long)other->n - 1);
        MODAL_TRY(modal_notes_add(&mesh->not_taken[other->kind], reader->text.err, "%s (%s%s)", other->text, place, more));
    }
done:
    return status;
}

void inp_free_others(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_others; i++) modal_free(&reader->others[i].text);
    modal_free(&reader->others);
}
