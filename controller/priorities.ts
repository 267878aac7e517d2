/** Of a database that was there at the start: what somebody does now, at 0, goes before it. */
export const startUpPriority = -50;

/** Of a database that is being made: nobody uses it yet, and its pods wake it again and again, so nothing else is to wait for it. */
export const creationPriority = -100;
