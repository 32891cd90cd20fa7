import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../harness/free-port.ts';
import { tool } from '../harness/tools.ts';

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
