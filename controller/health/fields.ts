/** Fields of an object whose shape nobody vouches for. */
export type Fields = Readonly<Record<string, unknown>>;

export function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function records(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** 0 for what is no number. */
export function number(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

export function text(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}
