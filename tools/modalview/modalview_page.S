/* SPDX-License-Identifier: Apache-2.0 */
/* The pages that the build has made, as bytes of the program. */
    .section .rodata
    .global modalview_page, modalview_page_end, modalview_response, modalview_response_end
modalview_page:
    .incbin MODALVIEW_PAGE
modalview_page_end:
    .byte 0
modalview_response:
    .incbin MODALVIEW_RESPONSE
modalview_response_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
