import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { Agent } from './node-http.ts';
import { lookupFor, type Resolution } from './resolve-hosts.ts';

/** How the client connects to servers. */
export interface ConnectionSettings {
  /** The folder of certificates. */
  readonly certs: string;
  /** No certificate is checked. */
  readonly insecure: boolean;
  readonly resolutions: readonly Resolution[];
}

/**
 * Returns the authorities to trust as options of TLS: those of Node (including NODE_EXTRA_CA_CERTS) and every file in the folder `CAs` of
 * the certificates; none when that folder is empty.
 */
export async function trustOptions(certs: string): Promise<object> {
  const folder = join(certs, 'CAs');
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return {};
  const own = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { defaultAuthorities } = await import('../../../platform/tls/default-authorities.ts');
  // A certificate that was trusted by itself need not be that of an authority. Node before 22.9 accepts only self-signed ones.
  return { ca: [...defaultAuthorities(), ...own], allowPartialTrustChain: true };
}

const agentOptions = { keepAlive: true, maxSockets: 64 };

/** Makes the agent for a server. TLS is loaded only for https. */
export async function connectionsTo(url: string, settings: ConnectionSettings): Promise<HttpAgent | HttpsAgent> {
  const { port, protocol } = new URL(url);
  const lookup = lookupFor(settings.resolutions, Number(port || (protocol === 'https:' ? 443 : 80)));
  const options = lookup === undefined ? agentOptions : { ...agentOptions, lookup };
  if (protocol !== 'https:') return new Agent(options);
  const trust = await trustOptions(settings.certs);
  const https = await import('node:https');
  return new https.Agent({ ...options, rejectUnauthorized: !settings.insecure, ...trust });
}
