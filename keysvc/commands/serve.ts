import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger, logWarnings } from '../../platform/output/logger.ts';
import { onShutdown } from '../../platform/process/shutdown.ts';
import { canariesVariable, loadConfig } from '../config/config-file.ts';
import type { ConfigOverrides } from '../config/config.ts';
import { watchConfig, type WatchedConfig } from '../config/watch-config.ts';
import { startKeyService, type KeyService } from '../http/start.ts';

/** Milliseconds for a stop after the delay: running calls, which are aborted after 10 s, and the key store. */
const stopMs = 20_000;

/** `keysvc server`: runs until a signal stops it. Throws when it cannot start. */
export async function serve(
  options: ConfigOverrides & { readonly config: string; readonly mlock?: boolean },
): Promise<void> {
  const { config: path, mlock = false, ...overrides } = options;
  const config = await loadConfig(path, process.env, overrides);
  const log = createLogger({ name: 'keysvc' });
  logWarnings(log);
  if (mlock) log.warn({ memoryLock: 'off' }, '--mlock: memory cannot be locked under Node; switch swap off instead');
  let service: KeyService | undefined;
  let watched: WatchedConfig | undefined;
  const { shutdownDelayMs } = config;
  const reload = () => {
    void watched?.reload();
    void service?.rereadCertificates();
  };
  // Registered before the start, since a start may wait for the key store.
  onShutdown({ log, timeoutMs: shutdownDelayMs + stopMs, onHangup: reload }, async () => {
    watched?.close();
    if (service === undefined) return;
    service.leave();
    await sleep(shutdownDelayMs);
    await service.stop();
  });
  const running = await startKeyService(config, { log, writeAudit: (line) => process.stdout.write(line) });
  service = running;
  watched = watchConfig({
    path,
    canariesPath: process.env[canariesVariable] || undefined,
    config,
    log,
    load: () => loadConfig(path, process.env, overrides),
    apply: (next, changes) => running.reconfigure(next, changes),
  });
}
