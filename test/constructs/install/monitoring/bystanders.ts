import type { Series } from './alert-cases.ts';

/**
 * Others beside those that an alert is about, with the same values: databases that have another condition, or have it not, and another installation.
 * An alert that overlooks the difference is told of one too many.
 */
export function bystanders(series: Series): Series {
  const all = Object.entries(series);
  const conditions = all.filter(([text]) => text.startsWith('plumbline_database_condition{'));
  const ofDatabase = conditions.length === 0 ? [] : all.filter(([text]) => text.startsWith('plumbline_database_'));
  const ofController = all.filter(([text]) => text.includes('namespace="plumbline-system"'));
  return Object.fromEntries([
    ...ofDatabase.map(([text, values]) => [
      relabelled(relabelled(text, 'type', 'SomethingElse'), 'name', 'other'),
      values,
    ]),
    ...ofDatabase.map(([text, values]) => [relabelled(opposite(text), 'name', 'opposite'), values]),
    ...ofController.map(([text, values]) => [relabelled(text, 'namespace', 'other-system'), values]),
  ]);
}

function opposite(text: string): string {
  return relabelled(text, 'status', text.includes('status="True"') ? 'False' : 'True');
}

/** The same series with another value of a label, where it has that. */
function relabelled(text: string, label: string, value: string): string {
  return text.replace(new RegExp(`([{,]${label}=)"[^"]*"`), `$1"${value}"`);
}
