import { fileURLToPath } from 'node:url';
import { docker } from '../../container/docker.ts';

const folder = fileURLToPath(new URL('../stand-in', import.meta.url));

/** Images of a server without a store, in two versions. */
export const standIn = { first: 'localhost/coffer-stand-in:one', second: 'localhost/coffer-stand-in:two' };

export async function buildStandIn(): Promise<void> {
  const { code, stderr } = await docker(['build', '--file', `${folder}/Containerfile`, '--tag', standIn.first, folder]);
  if (code !== 0) throw new Error(`docker build of ${folder} failed: ${stderr}`);
}
