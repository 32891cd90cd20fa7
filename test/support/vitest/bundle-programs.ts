/**
 * Bundles the programs as they ship, for `npm test` and the tiers: a bundled server starts in half the time. A test file that is run by
 * `vitest` itself starts the sources, so that a change is tried at once.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export default function bundlePrograms(): void {
  if (process.env['npm_lifecycle_event'] !== 'test') return;
  const bundle = ['.ci/container/bundle.js', '--out', 'dist/test-programs', '--if-changed'];
  execFileSync(process.execPath, bundle, { cwd: root, stdio: 'inherit' });
  process.env['COFFER_TEST_PROGRAMS'] = `${root}dist/test-programs`;
}
