import { group, type SettingReader } from './setting-source.ts';

/** The targets of audit entries. */
export interface AuditSettings {
  readonly file?: string;
  readonly webhooks: readonly AuditWebhookSettings[];
}

export interface AuditWebhookSettings {
  /** The `<ID>` of the variables, e.g. `SIEM`; `_` without one. */
  readonly id: string;
  readonly endpoint: string;
  /** The value of the header Authorization. */
  readonly authToken?: string;
  readonly clientCertificate?: { readonly certFile: string; readonly keyFile: string };
  readonly caFile?: string;
  readonly batchSize: number;
  /** The maximum number of waiting entries. */
  readonly queueSize: number;
  readonly queueFolder?: string;
  /** 0 retries without a limit. */
  readonly maxRetries: number;
  readonly retryMs: number;
  readonly timeoutMs: number;
}

/** Reads the targets that are switched on. The reader collects the problems. `suffixes` are those of the variables that exist. */
export function readAuditSettings(reader: SettingReader, suffixes: readonly string[]): AuditSettings {
  const webhooks = suffixes.flatMap((suffix) => readWebhook(reader, suffix) ?? []);
  const folders = webhooks.flatMap(({ queueFolder }) => queueFolder ?? []);
  const shared = folders.find((folder, at) => folders.indexOf(folder) !== at);
  if (shared !== undefined) {
    reader.problems.push(
      `SVC_AUDIT_WEBHOOK_QUEUE_DIR is ${shared} for several targets: each needs a folder of its own`,
    );
  }
  return { ...group(reader, 'SVC_').optional('file', 'AUDIT_FILE'), webhooks };
}

const prefix = 'SVC_AUDIT_WEBHOOK_';

function readWebhook(reader: SettingReader, suffix: string): AuditWebhookSettings | undefined {
  const read = group(reader, prefix, suffix);
  const id = suffix === '' ? '_' : suffix.slice(1);
  if (!read.onOff('ENABLE')) return undefined;
  const endpoint = read.text('ENDPOINT');
  if (endpoint === undefined) {
    read.require('ENDPOINT', `${prefix}ENDPOINT${suffix} is missing: audit entries of ${id} have nowhere to go`);
    return undefined;
  }
  const [certFile, keyFile] = [read.text('CLIENT_CERT'), read.text('CLIENT_KEY')];
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const both = `${prefix}CLIENT_CERT${suffix} and ${prefix}CLIENT_KEY${suffix}`;
    reader.problems.push(`${both} belong together: set both, or neither`);
  }
  return {
    id,
    endpoint,
    ...read.optional('authToken', 'AUTH_TOKEN'),
    ...(certFile === undefined || keyFile === undefined ? {} : { clientCertificate: { certFile, keyFile } }),
    ...read.optional('caFile', 'CA_FILE'),
    batchSize: read.number('BATCH_SIZE') ?? 1,
    queueSize: read.number('QUEUE_SIZE') ?? 10_000,
    ...read.optional('queueFolder', 'QUEUE_DIR'),
    maxRetries: read.number('MAX_RETRY') ?? 0,
    retryMs: read.number('RETRY_INTERVAL') ?? 3_000,
    timeoutMs: read.number('HTTP_TIMEOUT') ?? 5_000,
  };
}
