import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireGo } from './go.ts';

const module = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const sum = 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=';
const plurals = ['podmonitors', 'prometheusrules', 'servicemonitors'];

/**
 * Files with the definitions of the kinds of the Prometheus operator that `dist/plumbline-monitoring/` has objects of, from its own release. They stay in
 * Go's cache of modules.
 *
 * @throws Error when they can't be had, or are not what they were
 */
export function prometheusOperatorCrds(): readonly string[] {
  requireGo();
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-module-'));
  try {
    writeFileSync(join(folder, 'go.mod'), 'module plumbline\n');
    const args = ['mod', 'download', '-json', module];
    const { stdout } = spawnSync('go', args, { cwd: folder, encoding: 'utf8' });
    const { Dir: source, Sum, Error: problem } = JSON.parse(stdout || '{}') as Downloaded;
    if (source === undefined) throw new Error(`go mod download ${module}: ${problem ?? 'it failed'}`);
    if (Sum !== sum) throw new Error(`${module} is not what it was: ${Sum}`);
    return plurals.map((plural) =>
      join(source, `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** https://go.dev/ref/mod#go-mod-download */
interface Downloaded {
  readonly Dir?: string;
  readonly Sum?: string;
  readonly Error?: string;
}
