import type { Config } from './config.ts';

/** What a running service makes of a new configuration. */
export interface ConfigChanges {
  /** Taken into use without a restart, by the names of the file. */
  readonly live: readonly string[];
  /** Noted, and of no effect before a restart. */
  readonly needRestart: readonly string[];
}

type Part = readonly [name: string, of: (config: Config) => unknown];

const live: readonly Part[] = [
  ['root', (config) => config.admin],
  ['policy', (config) => config.policies],
  ['keys', (config) => config.keys],
  ['cache', (config) => config.cache],
  ['log', (config) => [config.logErrors, config.logAudit]],
];

/** The listening socket and its handshake, and the open key store, are made once. What stands in the TLS files reloads by itself. */
const fixed: readonly Part[] = [
  ['address', (config) => config.address],
  [
    'tls',
    (config) => [config.tls, config.verifyClients, [...config.proxies.identities].sort(), config.proxies.certHeader],
  ],
  ['api', (config) => [[...config.skipAuth].sort(), [...config.timeouts].map(([path, ms]) => `${path} ${ms}`).sort()]],
  ['keystore', (config) => config.keyStore],
  ['shutdown', (config) => config.shutdownDelayMs],
];

export function compareConfigs(before: Config, after: Config): ConfigChanges {
  const changed = (parts: readonly Part[]) =>
    parts.filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(after))).map(([name]) => name);
  return { live: changed(live), needRestart: changed(fixed) };
}
