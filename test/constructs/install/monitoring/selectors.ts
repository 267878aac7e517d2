/** One metric in an expression, with what its labels are to be. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);
const selector = /(?<!\w)([a-zA-Z_:][\w:]*)\s*(\(|\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?/g;
const matcher = /([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;

/** The metrics that an expression of PromQL reads. It is one that Prometheus takes; here nothing is checked. */
export function selectorsIn(expression: string): readonly Selector[] {
  const withoutLists = expression
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ');
  return [...withoutLists.matchAll(selector)].flatMap(([, metric = '', rest = '', inside = '']) => {
    if (rest === '(' || keywords.has(metric.toLowerCase())) return [];
    const matchers = [...inside.matchAll(matcher)].map(([, label = '', operator = '', value = '']) => ({
      label,
      operator,
      value,
    }));
    return [{ metric, matchers }];
  });
}
