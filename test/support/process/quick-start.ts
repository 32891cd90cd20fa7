import { fileURLToPath } from 'node:url';

const start = fileURLToPath(new URL('../../../examples/quickstart/start.ts', import.meta.url));

/** The arguments with which Node runs `npm start`, with the bundles of the server and the key service where there are some. */
export function quickStartArguments(): readonly string[] {
  const folder = process.env['COFFER_TEST_PROGRAMS'];
  const programs = folder === undefined ? [] : ['--programs', folder];
  return ['--disable-warning=ExperimentalWarning', start, ...programs];
}
