import { fileURLToPath } from 'node:url';
import { docker, image } from '../../container/docker.ts';
import { mkdir, rm } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { runCommand, tool } from '../process/run-command.ts';
import { type KubernetesObject, Kubectl } from './kubectl.ts';
import { existsSync } from 'node:fs';

const folder = fileURLToPath(new URL('../../cluster/stand-in', import.meta.url));

/** Images of a server without a store, in two versions. */
export const standIn = { first: 'localhost/coffer-stand-in:one', second: 'localhost/coffer-stand-in:two' };

async function buildStandIn(): Promise<void> {
  const { code, stderr } = await docker(['build', '--file', `${folder}/Containerfile`, '--tag', standIn.first, folder]);
  if (code !== 0) throw new Error(`docker build of ${folder} failed: ${stderr}`);
}

const provisioner = 'test.coffer.dev/host-path';

/**
 * Makes a volume in a folder of this machine for every claim: the dynamic provisioner that the cluster lacks. Returns how to stop it.
 * The storage class is the cluster's default.
 */
async function provisionVolumes(kubectl: Kubectl, folder: string): Promise<() => Promise<void>> {
  await kubectl.apply({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'host-path', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner,
    allowVolumeExpansion: true,
    reclaimPolicy: 'Delete',
  });
  const made = new Set<string>();
  const stopped = new AbortController();
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      // A cluster that is busy answers in the next round.
      const answer = await kubectl.attempt(['get', 'persistentvolumeclaims', '--all-namespaces', '--output', 'json']);
      const claims = answer.code === 0 ? (JSON.parse(answer.stdout) as { items: KubernetesObject[] }).items : [];
      for (const claim of claims) {
        const name = `pvc-${claim.metadata.uid}`;
        const spec = claim.spec ?? {};
        if (spec['storageClassName'] !== 'host-path' || spec['volumeName'] !== undefined || made.has(name)) continue;
        made.add(name);
        await mkdir(join(folder, name), { recursive: true });
        // hostPath volumes know no fsGroup: the folder belongs to whom the programs run as.
        await runCommand('chown', ['65532:65532', join(folder, name)]);
        await kubectl.apply(volume(name, claim, join(folder, name)));
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 500);
      });
    }
  })();
  return async () => {
    stopped.abort();
    await loop;
  };
}

function volume(name: string, claim: KubernetesObject, path: string): object {
  const spec = claim.spec as { accessModes: string[]; resources: { requests: { storage: string } } };
  const { namespace, uid } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: spec.resources.requests.storage },
      accessModes: spec.accessModes,
      storageClassName: 'host-path',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: claim.metadata.name, namespace, uid },
    },
  };
}

const scripts = fileURLToPath(new URL('../../cluster', import.meta.url));

/** The node's own address: what runs on this machine is reached at it from pods. */
export const nodeAddress = '10.245.0.1';

interface Cluster {
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
