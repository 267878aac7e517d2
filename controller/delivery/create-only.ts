/**
 * An apply with this version is a creation only: the server takes it as a precondition if the object exists, which no object meets, and
 * ignores it otherwise. Tried on 1.36.
 */
export const createOnly = '1';
