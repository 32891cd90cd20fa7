import { readFile } from 'node:fs/promises';
import { createProviderFetch, type ProviderFetch } from '../../../platform/openid/provider-fetch.ts';
import { numberOf, type NotificationTarget, TargetError, type TargetValues, textOf } from '../target.ts';

/** Milliseconds for which an idle connection is kept. */
const keepMs = 5_000;

/** Posts each event to a web service, as MinIO does. */
export function openWebhook(values: TargetValues): NotificationTarget {
  const endpoint = textOf(values, 'endpoint') ?? '';
  const authorization = authorizationOf(textOf(values, 'auth_token'));
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
  let fetch: Promise<ProviderFetch> | undefined;
  return {
    async send({ body }) {
      let status: number;
      try {
        fetch ??= openFetch(values);
        ({ status } = await (await fetch)(endpoint, { method: 'POST', headers, body }));
      } catch (error) {
        // The certificates may have been replaced.
        fetch = undefined;
        throw error;
      }
      if (status >= 200 && status < 300) return;
      const isRejected = status === 400 || status === 413 || status === 422;
      throw new TargetError(isRejected ? 'rejected' : 'unavailable', `it answered ${status}`);
    },
    close: () => Promise.resolve(),
  };
}

/** One word is a token of the scheme Bearer, as in MinIO. */
function authorizationOf(token: string | undefined): string | undefined {
  return token === undefined || token.trim().includes(' ') ? token : `Bearer ${token.trim()}`;
}

async function openFetch(values: TargetValues): Promise<ProviderFetch> {
  const [caFile, certFile, keyFile] = ['ca_file', 'client_cert', 'client_key'].map((name) => textOf(values, name));
  return createProviderFetch({
    timeoutMs: numberOf(values, 'http_timeout') ?? 5_000,
    maxBytes: 64 * 1024,
    keepMs,
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
    ...(certFile !== undefined &&
      keyFile !== undefined && { client: { cert: await readFile(certFile), key: await readFile(keyFile) } }),
  });
}
