import { Agent, type AgentOptions } from 'node:https';
import { privateKeyPem } from '../tls/certificate-and-key.ts';
import { issueCertificate } from '../tls/issue-certificate.ts';
import type { Logger } from '../output/logger.ts';
import { watchTlsFiles } from '../tls/reloading-context.ts';
import { readAuthorities } from '../tls/tls-files.ts';
import { parseApiKey } from '../../protocol/key-service/identity.ts';

/** The credentials of a client. */
export type ClientCredentials =
  | { readonly kind: 'files'; readonly certFile: string; readonly keyFile: string; readonly password?: string }
  | { readonly kind: 'api-key'; readonly apiKey: string }
  /** PEM, with the authorities for the service's certificate. */
  | { readonly kind: 'pem'; readonly cert: string; readonly key: string; readonly ca: string };

interface ReloadingAgent {
  current(): Agent;
  close(): void;
}

interface AgentSettings {
  readonly credentials: ClientCredentials;
  readonly caFile?: string;
  readonly insecure?: boolean;
  readonly log: Logger;
}

const tenYearsMs = 10 * 365 * 24 * 3600 * 1000;

/**
 * Opens an agent with the client's certificate. When the files change, it makes new connections, and calls in progress finish on the old
 * ones.
 */
export async function openAgent(settings: AgentSettings): Promise<ReloadingAgent> {
  const { credentials } = settings;
  if (credentials.kind === 'api-key') {
    const agent = makeAgent(settings, await apiKeyMaterial(credentials.apiKey, settings.caFile));
    return { current: () => agent, close: () => retire(agent) };
  }
  if (credentials.kind === 'pem') {
    const { kind: _, ...material } = credentials;
    const agent = makeAgent(settings, material);
    return { current: () => agent, close: () => retire(agent) };
  }
  const { kind: _, ...files } = credentials;
  const watched = await watchTlsFiles(
    { ...files, log: settings.log, ...(settings.caFile === undefined ? {} : { caFile: settings.caFile }) },
    (material) => {
      retire(agent);
      agent = makeAgent(settings, material);
    },
  );
  let agent = makeAgent(settings, watched.current);
  return {
    current: () => agent,
    close() {
      watched.close();
      retire(agent);
    },
  };
}

function makeAgent(settings: AgentSettings, material: AgentOptions): Agent {
  return new Agent({
    ...material,
    keepAlive: true,
    maxSockets: 64,
    // TLS sessions are not resumed, so that a changed authority takes effect with the next connection.
    maxCachedSessions: 0,
    minVersion: 'TLSv1.2',
    ...(settings.insecure === true ? { rejectUnauthorized: false } : {}),
  });
}

/** Closes idle connections now and the others after their call. `destroy` would break calls in progress. */
function retire(agent: Agent): void {
  (agent as Agent & { keepAlive: boolean }).keepAlive = false;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

/** Makes the Ed25519 certificate of an API key, which the client signs itself. */
async function apiKeyMaterial(apiKey: string, caFile: string | undefined): Promise<AgentOptions> {
  const { privateKey, identity } = parseApiKey(apiKey);
  const { certPem, keyPem } = await issueCertificate({
    commonName: identity,
    usages: ['client'],
    validForMs: tenYearsMs,
    keyPem: privateKeyPem(privateKey),
  });
  return { cert: certPem, key: keyPem, ...(caFile === undefined ? {} : { ca: await readAuthorities(caFile) }) };
}
