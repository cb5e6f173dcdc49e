/* stops: ^Z, both ways */
#pragma once

#include "values.h"

/* As if nothing of ours were in the way; it returns where that is no end. */
void raise_plainly(int signo);

/*
 * CONT and the terminal stops act at once for a while, as sa says; by default,
 * unless they were ignored when we were started.
 */
void act_at_once(const struct sigaction *sa);
void act_as_before(void);
