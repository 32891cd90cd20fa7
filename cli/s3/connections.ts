import { Agent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { certificateAuthorities } from './certificate-authorities.ts';

const kept = { keepAlive: true, maxSockets: 64 };

/** What makes and keeps the connections to a server. TLS is loaded where it is needed only. */
export async function connectionsTo(
  url: string,
  options: { readonly configFolder: string; readonly insecure: boolean },
): Promise<Agent | HttpsAgent> {
  if (!url.startsWith('https:')) return new Agent(kept);
  const authorities = await certificateAuthorities(options.configFolder);
  const https = await import('node:https');
  return new https.Agent({
    ...kept,
    rejectUnauthorized: !options.insecure,
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  });
}
