import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { lookupFor, type Resolution } from './resolve-hosts.ts';

/**
 * Returns the trusted authorities: those of Node (including NODE_EXTRA_CA_CERTS) and every file in the folder `certs/CAs` of the
 * configuration. Undefined when that folder is empty.
 */
async function certificateAuthorities(configFolder: string): Promise<readonly string[] | undefined> {
  const folder = join(configFolder, 'certs', 'CAs');
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return undefined;
  const own = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ...own];
}

const agentOptions = { keepAlive: true, maxSockets: 64 };

/** Makes the agent for a server. TLS is loaded only for https. */
export async function connectionsTo(
  url: string,
  options: { readonly configFolder: string; readonly insecure: boolean; readonly resolutions: readonly Resolution[] },
): Promise<Agent | HttpsAgent> {
  const { port, protocol } = new URL(url);
  const lookup = lookupFor(options.resolutions, Number(port || (protocol === 'https:' ? 443 : 80)));
  const settings = lookup === undefined ? agentOptions : { ...agentOptions, lookup };
  if (protocol !== 'https:') return new Agent(settings);
  const authorities = await certificateAuthorities(options.configFolder);
  const https = await import('node:https');
  return new https.Agent({
    ...settings,
    rejectUnauthorized: !options.insecure,
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  });
}
