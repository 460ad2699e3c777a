# SPDX-License-Identifier: Apache-2.0
# Modal dynamics, and the tool modalsim.
modal_unit_test(test_dynamics modal_dynamics)
