/* options: command line and environment */
#pragma once

#include "values.h"

/* All of it into opt; what is malformed is refused, or said and left out. */
void parse(char **argv);

bool has_keepers(void);
