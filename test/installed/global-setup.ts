import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../support/process/run-command.ts';
import { nodeOf } from './nodes.ts';

/** Bundles the client, packs it, and installs the tarball, as `npm install --global` does. The suites of the client then run it on Node 20. */
export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-installed-'));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const run = async (...words: readonly string[]) => {
    const [program = '', ...args] = words;
    const { code, stdout, stderr } = await runCommand(program, args, { cwd: root, timeoutMs: 300_000 });
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  await run('npm', 'run', '--silent', 'bundle:client');
  const packed = JSON.parse(await run('npm', 'pack', '--json', '--pack-destination', folder, './dist/npm')) as {
    readonly filename: string;
  }[];
  await run('npm', 'install', '--global', '--offline', '--prefix', folder, join(folder, packed[0]?.filename ?? ''));
  process.env['COFFER_TEST_PREFIX'] = folder;
  process.env['COFFER_TEST_CLIENT'] = [nodeOf(20), join(folder, 'bin', 'coffer')].join(delimiter);
  return () => rm(folder, { recursive: true, force: true });
}
