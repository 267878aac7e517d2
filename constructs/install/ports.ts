/** Where the controller's pods serve `/metrics`, and the probes. */
export const ports = { metrics: 8443, health: 8081 } as const;
