type Fields = Readonly<Record<string, unknown>>;

/** The patch by which Argo CD makes of an object what an action returned: RFC 7386. */
export function mergePatch(before: Fields, returned: Fields): Fields {
  return difference(before, cleaned(returned, before) as Fields);
}

function difference(before: Fields, after: Fields): Fields {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (!isFields(value)) {
      if (JSON.stringify(value) !== JSON.stringify(old)) patch[key] = value;
    } else {
      const inner = difference(isFields(old) ? old : {}, value);
      if (Object.keys(inner).length > 0 || !isFields(old)) patch[key] = inner;
    }
  }
  return patch;
}

/** Lua has one empty table for lists and maps, which comes out as a list; where there was a map before, Argo CD takes it for one. */
function cleaned(value: unknown, before: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 && isFields(before)) return {};
    return value.map((item: unknown, index) => cleaned(item, Array.isArray(before) ? before[index] : undefined));
  }
  if (!isFields(value)) return value;
  const old = isFields(before) ? before : {};
  const keys = [
    ...Object.keys(old).filter((key) => key in value),
    ...Object.keys(value).filter((key) => !(key in old)),
  ];
  return Object.fromEntries(keys.map((key) => [key, cleaned(value[key], old[key])]));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
