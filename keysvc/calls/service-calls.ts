import { availableParallelism, cpus } from 'node:os';
import { KeyError } from '../keystores/keystore.ts';
import { callError } from './call-error.ts';
import { empty, json, type Answer, type Call } from './call.ts';
import { routes, type Route } from '../../protocol/key-service/routes.ts';

/** The names of systems and processors in the protocol. */
const systems: Readonly<Record<string, string>> = { win32: 'windows' };
const processors: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export async function status({ service }: Call): Promise<Answer> {
  const { heapUsed } = process.memoryUsage();
  return json({
    version: service.version,
    os: systems[process.platform] ?? process.platform,
    arch: processors[process.arch] ?? process.arch,
    // Whole seconds, as later clients read it. Nanoseconds overflow there to minus 292 years. The clients of 2023 show too short a time.
    uptime: Math.floor((service.now() - service.startedAt) / 1000),
    num_cpu: cpus().length,
    num_cpu_used: availableParallelism(),
    mem_heap_used: heapUsed,
    // Node does not report the size of its stack.
    mem_stack_used: 0,
    ...(await keyStoreState(service)),
  });
}

/**
 * Reports whether the key store answers, for load balancers and probes. With `store=ignore` it reports only the state of this server: an
 * outage of the store makes every replica unready at once, and then none could serve the keys that it has in memory.
 */
export async function ready({ service, request }: Call): Promise<Answer> {
  if (service.leaving()) throw callError('stopping');
  if (/[?&]store=ignore(?:&|$)/.test(request.url ?? '')) return empty;
  try {
    await service.keyring.latency();
    return empty;
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw callError(error.code === 'unreachable' ? 'storeUnreachable' : 'storeUnavailable', { cause: error });
  }
}

export async function version({ service }: Call): Promise<Answer> {
  return json({ version: service.version, commit: service.commit });
}

async function keyStoreState(service: Call['service']): Promise<object> {
  try {
    return { keystore_latency: await service.keyring.latency() };
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return error.code === 'unreachable' ? { keystore_unreachable: true } : { keystore_unavailable: true };
  }
}

export async function metrics({ service }: Call): Promise<Answer> {
  await service.keyring.probe();
  return { kind: 'text', ...(await service.metrics.text()) };
}

/** Lists all calls. A call with two methods has that of the clients of 2023. */
export async function listApis({ service }: Call): Promise<Answer> {
  return json(routes.map((route) => describe(route, service)));
}

function describe(route: Route, { timeoutOf, isOpen }: Call['service']): object {
  return {
    method: route.methods[0],
    path: route.argument === 'none' ? route.path : `${route.path}/`,
    max_body: route.maxBody,
    // Whole seconds; 0 means no timeout.
    timeout: Math.floor((timeoutOf(route) ?? 0) / 1000),
    verify_auth: !isOpen(route),
  };
}

/** Streams every call from now on. */
export async function auditStream({ service }: Call): Promise<Answer> {
  return { kind: 'events', source: service.audit };
}

/** Streams every failure from now on. */
export async function errorStream({ service }: Call): Promise<Answer> {
  return { kind: 'events', source: service.errors };
}
