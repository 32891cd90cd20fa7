import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { waitsForHeader } from '../../protocol/health/waits-for.ts';
import type { StoreHealth } from '../runtime.ts';

export interface HealthRequest {
  readonly url: string;
  /** PEM of the authorities that signed the certificate, where the operator had it made; empty for any other. */
  readonly authorities: readonly string[];
}

/** Asks once; errors where there is no answer. */
export type AskHealth = (request: HealthRequest) => Promise<{
  readonly status: number;
  /** As the header of a server that is not ready has it. */
  readonly waitsFor?: string;
}>;

/** The store of a server answers quickly, or is not well. */
const timeoutMs = 3_000;

export async function storeHealthBy(ask: AskHealth, request: HealthRequest): Promise<StoreHealth> {
  try {
    const { status } = await ask(request);
    if (status === 200) return { healthy: true, message: '' };
    return { healthy: false, message: `${request.url} answers ${status}: the store cannot spare a server` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { healthy: false, message: `${request.url} does not answer: ${reason}` };
  }
}

export const askHealth: AskHealth = ({ url, authorities }) =>
  new Promise((resolve, reject) => {
    const secure = url.startsWith('https:');
    const tls = {
      ca: [...rootCertificates, ...authorities],
      // Who signed a person's own certificate is not known, and a kubelet does not ask either.
      rejectUnauthorized: authorities.length > 0,
      // A certificate that a person gave may be of a public name alone; nothing secret is sent.
      checkServerIdentity: () => undefined,
    };
    const request = (secure ? httpsRequest : httpRequest)(
      url,
      { method: 'GET', timeout: timeoutMs, agent: false, ...(secure ? tls : {}) },
      (response) => {
        response.resume();
        const waitsFor = response.headers[waitsForHeader];
        resolve({ status: response.statusCode ?? 0, ...(typeof waitsFor === 'string' ? { waitsFor } : {}) });
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer in ${timeoutMs} ms`)));
    request.on('error', reject);
    request.end();
  });
