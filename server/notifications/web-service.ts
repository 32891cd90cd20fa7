import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Pool } from 'undici';
import { exchange, openPool, type PoolAnswer } from '../outbox/http-pool.ts';
import { defaultAuthorities } from '../../platform/tls/default-authorities.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { type TargetValues, textOf } from './target.ts';

/** Requests at a time. It is the number of objects whose events are delivered at a time. */
const connections = 16;
/** Milliseconds for which an idle connection is kept. */
const keepMs = 5_000;
/** Bytes of an answer that are read. They are for messages: a service that answers by a page has taken the event all the same. */
const maxAnswerBytes = 64 * 1024;

interface WebServiceRequest {
  readonly method: 'DELETE' | 'HEAD' | 'POST' | 'PUT';
  /** Added to the path of the address. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A web service that takes events. It does not follow redirects. */
export interface WebService {
  /** Rejects with the error of the socket, or with `DeliveryError` for an answer that is late. The text of a long answer is cut off. */
  readonly request: (request: WebServiceRequest) => Promise<Pick<PoolAnswer, 'status' | 'text'>>;
  readonly close: () => Promise<void>;
}

const toError = (message: string) => new DeliveryError('unavailable', message);

/** Opens a web service with kept connections. `ca_file`, `client_cert` and `client_key` of the values are read with the first request. */
export function openWebService(address: string, values: TargetValues, timeoutMs: number): WebService {
  const { origin, pathname, search, username, password } = new URL(address);
  const account = username === '' ? {} : basicAuthorization(decodeURIComponent(username), decodeURIComponent(password));
  const limits = { maxAnswerBytes, cutsText: true, timeoutMs, toError };
  let opening: Promise<Pool> | undefined;
  const open = async () => {
    const secureContext = await secureContextOf(values);
    const connect = { timeout: timeoutMs, ...(secureContext && { secureContext }) };
    // The time of the whole request is measured here.
    const timeouts = { keepAliveTimeout: keepMs, headersTimeout: 0, bodyTimeout: 0 };
    return openPool(origin, { connections, ...timeouts, connect });
  };
  return {
    async request({ path = '', headers, ...rest }) {
      const used = (opening ??= open());
      try {
        const whole = { ...rest, path: path === '' ? pathname + search : pathname.replace(/\/$/, '') + path };
        return await exchange(await used, { ...whole, headers: { ...account, ...headers } }, limits);
      } catch (error) {
        // The certificates may have been replaced.
        if (opening === used) opening = undefined;
        void used.then((pool) => pool.close()).catch(() => undefined);
        throw error;
      }
    },
    async close() {
      const last = opening;
      opening = undefined;
      await last?.then((pool) => pool.destroy()).catch(() => undefined);
    },
  };
}

export function basicAuthorization(user: string, password: string) {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

async function secureContextOf(values: TargetValues): Promise<SecureContext | undefined> {
  const [caFile, certFile, keyFile] = ['ca_file', 'client_cert', 'client_key'].map((name) => textOf(values, name));
  if (caFile === undefined && certFile === undefined) return undefined;
  return createSecureContext({
    ...(caFile !== undefined && { ca: [...defaultAuthorities(), await readFile(caFile, 'utf8')] }),
    ...(certFile !== undefined &&
      keyFile !== undefined && { cert: await readFile(certFile), key: await readFile(keyFile) }),
  });
}
