import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The names that the bundle gives to programs (.ci/container/bundle.js). */
const bundled: Readonly<Record<string, string>> = {
  'cli/main.ts': 'coffer',
  'server/main.ts': 'coffer-server',
  'server/store-tool/main.ts': 'coffer-store',
  'keysvc/main.ts': 'keysvc',
  'operator/main.ts': 'coffer-operator',
};

/** What the launcher sets too: without the cache, each start compiles the whole program. */
export const programEnvironment = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile') };

/** The arguments with which Node starts a program: its bundle where `npm test` has made one, and else its source. */
export function programArguments(source: URL): readonly string[] {
  const path = fileURLToPath(source);
  const folder = process.env['COFFER_TEST_PROGRAMS'];
  const name = bundled[relative(root, path).replaceAll('\\', '/')];
  const program = folder === undefined || name === undefined ? path : join(folder, `${name}.js`);
  return ['--disable-warning=ExperimentalWarning', program];
}
