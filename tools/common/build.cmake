# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C source with VERSION and the commit of SOURCE, unless it says so already: what is compiled again is that file alone.
# The commit is git's in a checkout; elsewhere that of tools/common/commit.txt, which `git archive` fills in; else it is empty.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git describe --always --dirty=.dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
else()
  file(STRINGS ${SOURCE}/tools/common/commit.txt commit LIMIT_COUNT 1)
endif()
if(NOT commit MATCHES "^[0-9a-f]+(\\.dirty)?$")
  set(commit "")
endif()
set(build ${VERSION})
if(commit)
  set(build ${VERSION}+${commit})
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "/* SPDX-License-Identifier: Apache-2.0 */
#include \"tools/common/tool.h\"

const char *tool_build(void) { return \"${build}\"; }
")
