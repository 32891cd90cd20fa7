import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fullForm } from '../full-form.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The names that the bundle gives to programs (.ci/container/bundle.js). */
const bundled: Readonly<Record<string, string>> = {
  'cli/main.ts': 'coffer',
  'server/main.ts': 'coffer-server',
  'server/store-tool/main.ts': 'coffer-store',
  'keysvc/main.ts': 'keysvc',
  'operator/main.ts': 'coffer-operator',
};

/**
 * In `npm test` a server has one HTTP thread, since each takes 0.2 s of processor time to start. The gate asks for two, and the servers
 * of the tiers have as many as the machine has cores.
 */
export const serverThreads =
  process.env['COFFER_SERVER_THREADS'] ?? (process.env['COFFER_TEST_TIER'] === undefined ? '1' : undefined);

/**
 * The console is a third of the modules that a server loads. In `npm test` a server has none unless its test asks for it; in the gate and
 * the tiers each has one.
 */
export const withoutConsole: Readonly<Record<string, string>> =
  fullForm || process.env['COFFER_TEST_TIER'] !== undefined ? {} : { SVC_BROWSER: 'off' };

/** The number of HTTP threads for a server that an operator starts: rows of `spec.settings` of its Tenant. */
export const tenantSettings = serverThreads === undefined ? [] : [{ name: 'SVC_THREADS', value: serverThreads }];

/**
 * Programs of tests start more often than they work. Their young generation is large from the beginning, and one thread collects it: a
 * start takes a tenth less of processor time. Programs that start from their sources, such as those of the benchmarks, run as they do for users.
 */
const startOptions = ['--min-semi-space-size=16', '--single-threaded-gc'];

/** What the launcher sets too: without the cache, each start compiles the whole program. */
export const programEnvironment = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile') };

const checkedPlaces = { NODE_OPTIONS: `--import=${new URL('../store/check-places.ts', import.meta.url).href}` };

/**
 * In a test it ends a server or a store tool, with the reason, on a commit that crosses places and is not on the list. The process of a query of
 * S3 Select, which may read no file, does not get the environment of its server. Benchmarks measure servers as they run for users.
 */
export const storeEnvironment: Readonly<Record<string, string>> = {
  ...programEnvironment,
  ...(process.env['VITEST'] === undefined ? {} : checkedPlaces),
};

/** The arguments with which Node starts a program: its bundle where `npm test` has made one, and else its source. */
export function programArguments(source: URL): readonly string[] {
  const path = fileURLToPath(source);
  const folder = process.env['COFFER_TEST_PROGRAMS'];
  const name = bundled[relative(root, path).replaceAll('\\', '/')];
  const options = ['--disable-warning=ExperimentalWarning'];
  if (folder === undefined || name === undefined) return [...options, path];
  return [...options, ...startOptions, join(folder, `${name}.js`)];
}

/** The bundled programs that an operator on one machine starts, where `npm test` has made them. */
export function localPrograms(): { readonly 'coffer-server': string; readonly keysvc: string } | undefined {
  const folder = process.env['COFFER_TEST_PROGRAMS'];
  if (folder === undefined) return undefined;
  return { 'coffer-server': join(folder, 'coffer-server.js'), keysvc: join(folder, 'keysvc.js') };
}
