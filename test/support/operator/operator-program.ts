import dns from 'node:dns';
import { createLogger } from '../../../platform/output/logger.ts';
import { startKubernetes } from '../../../operator/runtime/kubernetes/start-kubernetes.ts';

/**
 * The operator as a process of its own, so that its memory and its CPU time are its own: `URL TOKEN`. It answers each line of its input
 * with a line of JSON.
 */
const [url = '', token = ''] = process.argv.slice(2);

// The servers of the tenants are not there. How soon a name server says so is a matter of the machine: some take seconds for many names at once.
const { lookup } = dns;
dns.lookup = Object.assign((name: string, ...rest: readonly unknown[]): void => {
  const answer = rest.at(-1) as (error: Error) => void;
  if (!name.endsWith('.svc')) Reflect.apply(lookup, dns, [name, ...rest]);
  else process.nextTick(answer, Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }));
}, lookup);

const operator = await startKubernetes({
  connection: {
    server: new URL(url),
    tls: {},
    authorization: () => Promise.resolve(`Bearer ${token}`),
    namespace: undefined,
  },
  identity: 'operator-of-the-measurement',
  maxConcurrentRollouts: 5,
  image: 'coffer:1',
  askHealth: () => Promise.resolve({ status: 200 }),
  log: createLogger({ name: 'operator', level: 'error' }),
  onStoppedLeading: (message) => {
    throw new Error(message);
  },
});
await operator.acting;

process.stdin.on('data', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${JSON.stringify({ rssBytes: process.memoryUsage().rss, cpuMicroseconds: user + system })}\n`);
});
process.stdin.on('end', () => process.exit(0));
