import { createLogger } from '../../platform/logger.ts';
import { onShutdown } from '../../platform/shutdown.ts';
import { loadConfig } from '../config/config-file.ts';
import type { ConfigOverrides } from '../config/config.ts';
import { startKeyService } from '../start.ts';
import type { KeyService } from '../start.ts';

/** `keysvc server`: runs until it is told to stop. Errors with the reason why it cannot start. */
export async function serve(options: ConfigOverrides & { readonly config: string }): Promise<void> {
  const { config: path, ...overrides } = options;
  const config = await loadConfig(path, process.env, overrides);
  const log = createLogger({ name: 'keysvc' });
  let service: KeyService | undefined;
  // Before the start, so that one that waits for its key store can be stopped too.
  onShutdown({ log }, async () => service?.stop());
  service = await startKeyService(config, { log, writeAudit: (line) => process.stdout.write(line) });
}
