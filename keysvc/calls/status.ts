import { availableParallelism, cpus } from 'node:os';
import { KeyStoreError } from '../keystore/keystore.ts';
import { refuse } from '../http/refused.ts';
import { empty, json } from './call.ts';
import type { Answer, Call } from './call.ts';

/** Names of systems and processors as clients of the protocol know them. */
const systems: Readonly<Record<string, string>> = { win32: 'windows' };
const processors: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export async function status({ service }: Call): Promise<Answer> {
  const { heapUsed } = process.memoryUsage();
  return json({
    version: service.version,
    os: systems[process.platform] ?? process.platform,
    arch: processors[process.arch] ?? process.arch,
    // Whole seconds, as later clients read it: nanoseconds overflow there to minus 292 years. The 2023 clients show too short a time.
    uptime: Math.floor((service.now() - service.startedAt) / 1000),
    num_cpu: cpus().length,
    num_cpu_used: availableParallelism(),
    mem_heap_used: heapUsed,
    // Node does not tell the size of its stack.
    mem_stack_used: 0,
    ...(await keyStoreState(service)),
  });
}

/** 200 when the key store answers: what a load balancer or a probe asks. */
export async function ready({ service }: Call): Promise<Answer> {
  if (service.leaving()) throw refuse('stopping');
  try {
    await service.keyring.latency();
    return empty;
  } catch (error) {
    if (!(error instanceof KeyStoreError)) throw error;
    throw refuse(error.code === 'unreachable' ? 'storeUnreachable' : 'storeUnavailable', { cause: error });
  }
}

export async function version({ service }: Call): Promise<Answer> {
  return json({ version: service.version, commit: service.commit });
}

async function keyStoreState(service: Call['service']): Promise<object> {
  try {
    return { keystore_latency: await service.keyring.latency() };
  } catch (error) {
    if (!(error instanceof KeyStoreError)) throw error;
    return error.code === 'unreachable' ? { keystore_unreachable: true } : { keystore_unavailable: true };
  }
}
