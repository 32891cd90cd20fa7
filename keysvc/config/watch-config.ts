import type { Config } from './config.ts';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../platform/output/logger.ts';
import { watchPaths } from '../../platform/files/watch-paths.ts';

/** The changes between two configurations. */
export interface ConfigChanges {
  /** Settings that apply without a restart, by their names in the file. */
  readonly live: readonly string[];
  /** Settings that have no effect before a restart. */
  readonly needRestart: readonly string[];
}

type Part = readonly [name: string, of: (config: Config) => unknown];

const live: readonly Part[] = [
  ['root', (config) => config.admin],
  ['policy', (config) => config.policies],
  ['keys', (config) => config.keys],
  ['canaries', (config) => config.canaries],
  ['cache', (config) => config.cache],
  ['log', (config) => [config.logErrors, config.logAudit]],
];

/** The listening socket, its TLS options and the key store are opened once. The TLS files reload by themselves. */
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
  /** Another file that is watched with it, in the same folder. */
  readonly canariesPath?: string | undefined;
  /** The configuration at the start of the service. */
  readonly config: Config;
  /** Reads and validates the file; rejects with its error. */
  readonly load: () => Promise<Config>;
  /** Applies the changes: all of them or, when it rejects, none. */
  readonly apply: (next: Config, changes: ConfigChanges) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds between checks of the file; the default is 5 s. */
  readonly pollMs?: number;
}

export interface WatchedConfig {
  /** Reads the file again, even when it has not changed. */
  reload(): Promise<void>;
  close(): void;
}

/**
 * Reloads the configuration file when its content changes. An invalid file, or one with a key that cannot be created, is logged once, and
 * the old configuration stays. The reload is retried, since the key store may recover.
 */
export function watchConfig(options: WatchConfigOptions): WatchedConfig {
  const { path, canariesPath, log } = options;
  let current = options.config;
  let seen: string | undefined;
  let complaint: string | undefined;

  let asked = false;

  const take = async (text: string) => {
    try {
      const next = await options.load();
      const changes = compareConfigs(current, next);
      if (changes.live.length > 0) await options.apply(next, changes);
      const known = asked ? [] : current.warnings;
      for (const warning of next.warnings.filter((each) => !known.includes(each))) log.warn(warning);
      // The first check finds the configuration that the service was started with.
      if (asked || changes.live.length + changes.needRestart.length > 0) tell(log, path, changes);
      asked = false;
      // Settings that need a restart are compared with the running ones, so that the next change reports them again.
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
    const file = await readFile(path, 'utf8').catch(() => undefined);
    // During a write the file may be missing or empty for a moment.
    if (file === undefined || file === '') return;
    const canaries = canariesPath === undefined ? '' : await readFile(canariesPath, 'utf8').catch(() => '');
    const text = `${file}\0${canaries}`;
    if (text !== seen) await take(text);
  };
  const watched = watchPaths([dirname(path)], {
    look,
    pollMs: options.pollMs,
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
    `${needRestart.join(', ')} of the configuration changed and cannot be applied at run time: restart the key service; ${taken}`,
  );
}
