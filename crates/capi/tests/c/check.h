/* The checks of the test programs. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hairpin.h"

/* Ends the program unless the condition is true. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,                     \
                    hairpin_last_error());                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Checks that a function has returned an error, with a text of one line. */
#define CHECK_ERROR(call, code)                                                                    \
    do {                                                                                           \
        int check_status = (call);                                                                 \
        if (check_status != (code) || hairpin_last_error()[0] == '\0' ||                           \
            strchr(hairpin_last_error(), '\n') != NULL) {                                          \
            fprintf(stderr, "%s:%d: %s returned %d: %s\n", __FILE__, __LINE__, #call,              \
                    check_status, hairpin_last_error());                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
