/**
 * Environment of the parts of Kubernetes: Go's garbage collector runs when the heap has grown to five times what is alive, not to twice. The
 * clusters of tests live for minutes and are small, so memory is cheaper than the processor.
 */
export const collectsSeldom = { GOGC: '400' } as const;
