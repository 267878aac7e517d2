/** Fields of an object whose shape nobody vouches for. */
export type Fields = Readonly<Record<string, unknown>>;

export function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function records(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** Of an annotation; nothing where there is none, or it cannot be read. */
export function json(annotation: string | undefined): Fields {
  if (annotation === undefined) return {};
  try {
    return record(JSON.parse(annotation));
  } catch {
    return {};
  }
}

/** Those fields that are texts. */
export function texts(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
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
