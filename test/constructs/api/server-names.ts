/**
 * Whether the API server's answer names a field. It writes some otherwise than people do: a map of text as a whole with the key behind it,
 * metadata by its map or its Go type, and of a key that stands twice only the key.
 */
export function namesField(answer: string, field: string): boolean {
  const { parent, key } = split(field);
  if (answer.includes(field) || answer.includes(`${parent}.${key}`)) return true;
  if (/^\d+$/.test(key)) return namesField(answer, parent);
  if (parent.startsWith('metadata'))
    return (
      answer.includes(goType(field)) ||
      (parent !== 'metadata' && (answer.includes(parent) || answer.includes(goType(parent))))
    );
  return (answer.includes(parent) && answer.includes(key)) || answer.includes(`key "${key}" already set in map`);
}

function split(field: string): { readonly parent: string; readonly key: string } {
  const [, parent = '', word, bracketed] = /^(.*?)(?:\.([^.[\]]+)|\[([^\]]*)\])$/.exec(field) ?? [];
  return { parent, key: word ?? bracketed ?? field };
}

function goType(field: string): string {
  return field.replace(/^metadata/, 'ObjectMeta');
}
