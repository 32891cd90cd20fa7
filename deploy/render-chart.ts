import { eachKind, type Kind } from '../operator/api/kinds.ts';
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

/** Every kind of `coffer.dev`, by name. */
export const cofferKinds: readonly Kind<unknown>[] = eachKind((kind) => kind as unknown as Kind<unknown>).toSorted(
  (a, b) => (a.kind < b.kind ? -1 : 1),
);

/** An object of Kubernetes as a manifest has it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

const run = promisify(execFile);
const charts = fileURLToPath(new URL('../charts/', import.meta.url));

/** The helm of `.ci/install helm`. */
export const helm = join(
  process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools'),
  'kubernetes',
  'helm',
);

/** What `helm template` makes of a chart; `arguments_` are its further arguments. Errors with what helm said. */
export async function renderChart(chart: string, arguments_: readonly string[] = []): Promise<readonly Manifest[]> {
  // The version of a cluster that helm would ask; the one built here knows none of its own.
  const always = ['template', chart, join(charts, chart), '--kube-version', '1.34.0'];
  const { stdout } = await run(helm, [...always, ...arguments_], { maxBuffer: 64 << 20 });
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
