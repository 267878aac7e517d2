const repository = 'percona/percona-distribution-postgresql';

/**
 * The image of a bare major. Part of the renderer's output, so it never changes within a renderer version: else a new release of Plumbline would
 * restart databases. The tags are those of Percona's operator 3.0.0 (2.8.2 for 13);
 * source: https://docs.percona.com/percona-operator-for-postgresql/3.0.0/images.html
 */
const majors: Readonly<Record<string, string>> = {
  '18': '18.4-1',
  '17': '17.10-1',
  '16': '16.14-1',
  '15': '15.18-1',
  '14': '14.23-1',
  '13': '13.23-2',
};

/** The image of the exporter, by the same rule. Source: https://github.com/prometheus-community/postgres_exporter/releases */
export const exporterImage = 'quay.io/prometheuscommunity/postgres-exporter:v0.19.1';

/**
 * The image of a version: a bare major leads to the release above, or to the tag of that name; `17.9` to the tag `17.9`, and `17.9.1` to
 * build 1 of it, `17.9-1`.
 */
export function imageOf(version: string): string {
  const [major = '', minor, build] = version.split('.');
  if (minor === undefined) return `${repository}:${majors[major] ?? major}`;
  return `${repository}:${major}.${minor}${build === undefined ? '' : `-${build}`}`;
}

/** The major of a version: `17.9` is `17`. */
export function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}
