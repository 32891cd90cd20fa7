import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/process/free-port.ts';
import { tool } from '../support/process/run-command.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const run = promisify(execFile);
const scripts = fileURLToPath(new URL('../cluster/', import.meta.url));

export interface ApiServer {
  readonly kubeconfig: string;
  /** Runs kubectl; errors with what it wrote to standard error. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a kube-apiserver with its etcd on free ports. */
export async function startApiServer(): Promise<ApiServer> {
  const bin = dirname(tool('kubernetes/kube-apiserver', 'kubernetes-api-server'));
  const state = await mkdtemp(join(tmpdir(), 'coffer-api-server-'));
  const ports = [await freePort(), await freePort(), await freePort()].map(String);
  await run(join(scripts, 'up-api-server'), [bin, state, ...ports]);
  const kubeconfig = join(state, 'admin.kubeconfig');
  return {
    kubeconfig,
    kubectl: async (args, input) => {
      const call = run(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 64 << 20 });
      call.child.stdin?.end(input);
      return (await call).stdout;
    },
    stop: async () => {
      await run(join(scripts, 'down-api-server'), [state]);
      await rm(state, { recursive: true, force: true });
    },
  };
}

interface Crd {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}

/**
 * Resolves when each of these CRDs is established. `kubectl wait` gives up on one whose conditions are null, as they are for a moment
 * after it was made.
 */
export async function untilEstablished(
  kubectl: (args: readonly string[]) => Promise<string>,
  crds: readonly string[],
): Promise<void> {
  for (const crd of crds) {
    for (const end = Date.now() + 30_000; ; await sleep(200)) {
      const { status } = JSON.parse(await kubectl(['get', `crd/${crd}`, '-o', 'json'])) as Crd;
      if (status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') === true) break;
      if (Date.now() > end) throw new Error(`the CRD ${crd} is not established after 30 s`);
    }
  }
}
