import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docker, image } from '../../container/docker.ts';
import { runCommand } from '../../harness/run-command.ts';
import { tool } from '../../harness/tools.ts';
import { Kubectl } from './kubectl.ts';
import { buildStandIn, standIn } from './stand-in.ts';
import { provisionVolumes } from './volumes.ts';

const scripts = fileURLToPath(new URL('..', import.meta.url));

/** The node's own address: what runs on this machine is reached at it from pods. */
export const nodeAddress = '10.245.0.1';

export interface Cluster {
  readonly kubectl: Kubectl;
  readonly state: string;
  stop(): Promise<void>;
}

/**
 * Starts a real Kubernetes of one node with the image of this checkout in it. With COFFER_CLUSTER_KEEP, one that runs already is used
 * and left running: for work on the tests.
 */
export async function startCluster(): Promise<Cluster> {
  const state = process.env['COFFER_CLUSTER'] ?? '/tmp/coffer-cluster';
  const keep = process.env['COFFER_CLUSTER_KEEP'] !== undefined;
  const kubectl = new Kubectl(join(state, 'admin.kubeconfig'));
  const down = async () => {
    if (existsSync(state)) await script('down', [state]);
  };
  const runs = existsSync(kubectl.kubeconfig) && (await kubectl.attempt(['get', '--raw', '/readyz'])).code === 0;
  try {
    if (!keep || !runs) {
      await down();
      await mkdir(state, { recursive: true });
      await script('up', [dirname(tool('kubernetes/kube-apiserver', 'kubernetes')), state]);
    }
    // Each under a second name too: that of a next version.
    await importImage(state, image, nextImage);
    await buildStandIn();
    await importImage(state, standIn.first, standIn.second);
    const stopVolumes = await provisionVolumes(kubectl, join(state, 'volumes'));
    return {
      kubectl,
      state,
      async stop() {
        await stopVolumes();
        if (!keep) await down();
      },
    };
  } catch (error) {
    if (!keep) await down();
    throw error;
  }
}

async function script(name: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand('bash', [join(scripts, name), ...args], { timeoutMs: 240_000 });
  if (code !== 0) throw new Error(`test/cluster/${name} exited with ${code}: ${stderr}`);
}

/** From the Docker engine that built it to the node, which pulls nothing. */
async function importImage(state: string, name: string, secondName: string): Promise<void> {
  const archive = join(state, 'image.tar');
  const saved = await docker(['save', '--output', archive, name]);
  if (saved.code !== 0) throw new Error(`docker save failed: ${saved.stderr}`);
  const ctr = ['--address', join(state, 'containerd.sock'), '--namespace', 'k8s.io', 'images'];
  for (const args of [
    [...ctr, 'import', archive],
    [...ctr, 'tag', '--force', name, secondName],
  ]) {
    const { code, stderr } = await runCommand('ctr', args, { timeoutMs: 120_000 });
    if (code !== 0) throw new Error(`ctr ${args.join(' ')} exited with ${code}: ${stderr}`);
  }
  await rm(archive);
}

/** The same programs under another name, for changes of the image. */
export const nextImage = 'localhost/coffer:next';
export { image };
