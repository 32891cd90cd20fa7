import type { Config } from './config.ts';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { watchPaths } from '../../platform/watch-paths.ts';

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

interface WatchConfigOptions {
  readonly path: string;
  /** What the service was started with. */
  readonly config: Config;
  /** Reads and checks the file. Errors with what is wrong with it. */
  readonly load: () => Promise<Config>;
  /** Takes what can change into use, all of it or, when it rejects, nothing. */
  readonly apply: (next: Config, changes: ConfigChanges) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds between looks; 5 s by default. */
  readonly pollMs?: number;
}

export interface WatchedConfig {
  /** Reads the file again, changed or not. */
  reload(): Promise<void>;
  close(): void;
}

/**
 * Takes the configuration file into use again whenever its content changes. One that is wrong, or names a key that cannot be made,
 * is told once in the log, and what was before stays; it is tried again, since the key store may come back.
 */
export function watchConfig(options: WatchConfigOptions): WatchedConfig {
  const { path, log } = options;
  let current = options.config;
  let seen: string | undefined;
  let complaint: string | undefined;

  let asked = false;

  const take = async (text: string) => {
    try {
      const next = await options.load();
      const changes = compareConfigs(current, next);
      if (changes.live.length > 0) await options.apply(next, changes);
      // The first look finds what the service was started with.
      if (asked || changes.live.length + changes.needRestart.length > 0) tell(log, path, changes);
      asked = false;
      // What needs a restart is compared with what runs, so that it is told again with the next change.
      current = { ...next, ...fixedPartsOf(current) };
      seen = text;
      complaint = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== complaint)
        log.error({ event: 'config-refused', err: error }, `configuration not reloaded, the old one stays: ${message}`);
      complaint = message;
    }
  };
  const look = async () => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    // Between two writes of a file it may be away or empty for a moment: what matters is what it holds in the end.
    if (text === seen || text === undefined || text === '') return;
    await take(text);
  };
  const watched = watchPaths([dirname(path)], {
    look,
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
  });
  return {
    async reload() {
      asked = true;
      seen = undefined;
      complaint = undefined;
      await watched.check();
    },
    close: () => watched.close(),
  };
}

function fixedPartsOf(config: Config): Partial<Config> {
  const { address, tls, verifyClients, proxies, skipAuth, timeouts, keyStore, shutdownDelayMs } = config;
  return { address, tls, verifyClients, proxies, skipAuth, timeouts, keyStore, shutdownDelayMs };
}

function tell(log: Logger, path: string, { live, needRestart }: ConfigChanges): void {
  const fields = { event: 'config-reloaded', path, changed: live, needRestart };
  if (needRestart.length === 0) {
    log.info(
      fields,
      live.length === 0 ? 'configuration read again: nothing changed' : `configuration reloaded: ${live.join(', ')}`,
    );
    return;
  }
  const taken = live.length === 0 ? 'nothing else changed' : `${live.join(', ')} reloaded`;
  log.warn(
    fields,
    `${needRestart.join(', ')} of the configuration changed and cannot be taken into use while running: restart the key service; ${taken}`,
  );
}
