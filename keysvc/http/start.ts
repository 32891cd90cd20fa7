import { readFile } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import { keyServiceLimits } from '../../protocol/key-service/routes.ts';
import { formatAddress, listen } from '../../platform/http/listen.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { isForTesting } from '../../platform/tls/issue-certificate.ts';
import { expiresAt } from '../../platform/tls/certificate-validity.ts';
import { watchTlsFiles } from '../../platform/tls/reloading-context.ts';
import { Authorizer } from '../calls/authorizer.ts';
import { AuditLog, ErrorLog } from '../calls/event-logs.ts';
import type { ConfigChanges } from '../config/watch-config.ts';
import type { Config } from '../config/config.ts';
import { createKeyServer, type KeyServer } from './key-server.ts';
import { ensureKeys } from '../keys/ensure-keys.ts';
import { Keyring } from '../keys/keyring.ts';
import type { KeyStore } from '../keystores/keystore.ts';
import { openKeyStore } from '../keystores/open-keystore.ts';
import { ServiceMetrics } from '../calls/service-metrics.ts';

/** Files of Linux about swap. Undefined where a file is missing. */
interface SwapFiles {
  /** `/proc/swaps`: a line of titles, then one for each device. */
  readonly swaps: string | undefined;
  /** `memory.swap.max` of the control group: `max`, or bytes. */
  readonly limit: string | undefined;
}

/** Reports whether the kernel may write the memory of this process to a disk, where keys would outlive the process. */
export function maySwap({ swaps, limit }: SwapFiles): boolean {
  const devices = (swaps ?? '').trim().split('\n').slice(1);
  return devices.length > 0 && limit?.trim() !== '0';
}

async function readSwapFiles(): Promise<SwapFiles> {
  const [swaps, limit] = await Promise.all([readIfThere('/proc/swaps'), readIfThere('/sys/fs/cgroup/memory.swap.max')]);
  return { swaps, limit };
}

function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

export interface KeyService {
  /** The address of the server, `HOST:PORT`. */
  readonly address: string;
  readonly audit: AuditLog;
  /**
   * Applies the settings that can change at run time (`compareConfigs`): it creates new keys first, then applies the rest at once.
   *
   * @throws KeyError `not-ensured`; then nothing has changed
   */
  reconfigure(next: Config, changes: ConfigChanges): Promise<void>;
  /** Checks the files of the certificate, the key and the authorities now. */
  rereadCertificates(): Promise<void>;
  /** Ends the readiness. The service still answers every call, and closes each connection after its answer. */
  leave(): void;
  /** Answers the running calls and stops. */
  stop(): Promise<void>;
}

/** Clients look for the address that they call in the certificate. They ignore its common name. */
function checkServerNames(certFile: string, cert: Buffer): void {
  const { subjectAltName: names } = new X509Certificate(cert);
  if (/(?:^|, )(?:DNS|IP Address):/.test(names ?? '')) return;
  throw new ProgramError(
    'tls-files',
    `the certificate in ${certFile} names no host: no client accepts it. Issue it with the DNS names or IP addresses of this server as ` +
      'subject alternative names ("keysvc identity new NAME --dns HOST --ip ADDRESS", for instance)',
  );
}

interface StartOptions {
  readonly log: Logger;
  /** Receives audit lines when the configuration enables them. */
  readonly writeAudit: (line: string) => void;
  readonly openStore?: (config: Config) => Promise<KeyStore>;
  readonly now?: () => number;
}

/**
 * Starts the key service. It listens after every key under `keys` is validated or created.
 *
 * @throws KeyError, ProgramError or ProgramError
 */
export async function startKeyService(config: Config, options: StartOptions): Promise<KeyService> {
  const { log, now = Date.now } = options;
  const store = await (options.openStore ?? ((config) => openKeyStore(config.keyStore)))(config);
  const keyring = new Keyring(store, config.cache);
  await ensureKeys(keyring, config.keys, config.canaries, log, () => new Date(now()));
  const ensured = new Set(config.keys);
  let { canaries } = config;

  let keyServer: KeyServer | undefined;
  const accept = ({ cert }: { readonly cert: Buffer }) => checkServerNames(config.tls.certFile, cert);
  const tls = await watchTlsFiles({ ...config.tls, log, accept }, (material, change) =>
    keyServer?.reload(material, change),
  );
  const audit = new AuditLog(options.writeAudit, config.logAudit);
  const errors = new ErrorLog();
  const startedAt = now();
  const metrics = new ServiceMetrics(startedAt, now);
  metrics.addKeyStore(() => keyring.isDown);
  metrics.addCertificate(() => expiresAt(tls.current.cert));
  audit.on('event', () => metrics.audited());
  errors.on('event', () => metrics.failed());
  let authorizer = new Authorizer(config.admin, config.policies);
  let { logErrors } = config;
  const running: KeyServer = createKeyServer(tls.current, {
    service: {
      keyring,
      get authorizer() {
        return authorizer;
      },
      audit,
      errors,
      metrics,
      hasSealed: (name) => canaries.some(({ key }) => key === name),
      timeoutOf: ({ path, endless }) =>
        endless ? undefined : (config.timeouts.get(path) ?? keyServiceLimits.timeoutMs),
      // If clients are verified and no call is public, even the version needs a certificate.
      isOpen: ({ access, maySkipAuth, path }) =>
        (access === 'none' && !(config.verifyClients && config.skipAuth.size === 0)) ||
        (maySkipAuth && config.skipAuth.has(path)),
      leaving: () => running.leaving,
      startedAt,
      version: packageJson.version,
      commit: '',
      now,
    },
    log,
    logErrors: () => logErrors,
    verifyClients: config.verifyClients,
    proxies: config.proxies,
    requestTimeoutMs: keyServiceLimits.timeoutMs,
  });
  keyServer = running;
  for (const warning of config.warnings) log.warn(warning);
  const bound = await listen(running.server, config.address, { setting: 'the setting "address" or --addr' });
  const address = formatAddress(bound);
  if (isForTesting(new X509Certificate(tls.current.cert))) {
    log.warn({ certFile: config.tls.certFile }, 'the certificate is one for testing, which signs itself and ends soon');
  }
  log.info(
    {
      event: 'listening',
      address,
      admin: config.admin ?? 'disabled',
      verifyClients: config.verifyClients,
      // V8 aborts the process when its memory is locked: see docs/decisions/0036-memory-lock.md.
      memoryLock: 'off',
    },
    `listening on https://${address}`,
  );
  if (maySwap(await readSwapFiles())) {
    log.warn(
      { memoryLock: 'off' },
      'this machine has swap, and memory cannot be locked under Node, so keys may be written to the swap device: switch swap off, or forbid ' +
        'it to this process (memory.swap.max=0 of its control group, MemorySwapMax=0 of its systemd unit)',
    );
  }
  return {
    address,
    audit,
    async reconfigure(next, { live }) {
      // A key that was validated before and is missing now was deleted or lost. It is never made anew.
      const added = next.keys.filter((name) => !ensured.has(name));
      await ensureKeys(keyring, added, next.canaries, log, () => new Date(now()));
      ({ canaries } = next);
      for (const name of added) ensured.add(name);
      authorizer = new Authorizer(next.admin, next.policies);
      if (live.includes('cache')) keyring.setExpiry(next.cache);
      ({ logErrors } = next);
      // The audit log gets the reload when the old or the new configuration enables it.
      if (next.logAudit) audit.enable(true);
      audit.recordReload({ time: new Date(now()).toISOString(), event: 'config-reloaded', changed: live });
      audit.enable(next.logAudit);
    },
    rereadCertificates: () => tls.check(),
    leave: () => running.leave(),
    async stop() {
      tls.close();
      await running.drain();
      await keyring.close();
    },
  };
}
