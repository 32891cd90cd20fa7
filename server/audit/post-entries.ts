import { readFile } from 'node:fs/promises';
import { createProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { ProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { AuditWebhookSettings } from '../../platform/settings/audit-settings.ts';

/** Sends entries; rejects with `EntriesRefused`, or the error of the connection. */
export type PostEntries = (lines: readonly string[]) => Promise<void>;

/** The address answered, and did not take them. */
export class EntriesRefused extends Error {
  override readonly name = 'EntriesRefused';
  readonly status: number;
  /** Whether it says that these entries will never do. */
  readonly forGood: boolean;
  constructor(status: number) {
    super(`it answered ${status}`);
    this.status = status;
    this.forGood = status === 400 || status === 413 || status === 422;
  }
}

export interface Sender {
  readonly deploymentId: () => string;
  readonly version: string;
}

/** As MinIO posts them: one JSON document, or where the settings allow batches one on each line. */
export function postEntries(settings: AuditWebhookSettings, sender: Sender): PostEntries {
  let fetch: Promise<ProviderFetch> | undefined;
  return async (lines) => {
    const headers = {
      'content-type': settings.batchSize === 1 ? 'application/json' : 'application/x-ndjson',
      'user-agent': `Coffer/${sender.version}`,
      'x-minio-deployment-id': sender.deploymentId(),
      'x-minio-webhook-payload-count': String(lines.length),
      ...(settings.authToken === undefined ? {} : { authorization: settings.authToken }),
    };
    let status: number;
    try {
      fetch ??= openFetch(settings);
      ({ status } = await (await fetch)(settings.endpoint, { method: 'POST', headers, body: `${lines.join('\n')}\n` }));
    } catch (error) {
      // Certificates may have been replaced.
      fetch = undefined;
      throw error;
    }
    if (status < 200 || status >= 300) throw new EntriesRefused(status);
  };
}

async function openFetch({ caFile, clientCertificate, timeoutMs }: AuditWebhookSettings): Promise<ProviderFetch> {
  return createProviderFetch({
    timeoutMs,
    maxBytes: 64 * 1024,
    ...(caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }),
    ...(clientCertificate === undefined
      ? {}
      : {
          client: { cert: await readFile(clientCertificate.certFile), key: await readFile(clientCertificate.keyFile) },
        }),
  });
}
