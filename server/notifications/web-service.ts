import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Pool } from 'undici';
import { openPool } from '../../platform/http-pool.ts';
import { defaultAuthorities } from '../../platform/tls/default-authorities.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { type TargetValues, textOf } from './target.ts';

/** Requests at a time. It is the number of objects whose events are delivered at a time. */
const connections = 16;
/** Milliseconds for which an idle connection is kept. */
const keepMs = 5_000;
/** Bytes of an answer that are read. They are only for messages. */
const maxBytes = 64 * 1024;

interface WebServiceRequest {
  readonly method: 'DELETE' | 'HEAD' | 'POST' | 'PUT';
  /** Added to the path of the address. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface WebServiceAnswer {
  readonly status: number;
  readonly text: string;
}

/** A web service that takes events. It does not follow redirects. */
export interface WebService {
  /** Rejects with the error of the socket, or with `DeliveryError` for an answer that is late or too long. */
  readonly request: (request: WebServiceRequest) => Promise<WebServiceAnswer>;
  readonly close: () => Promise<void>;
}

/** Opens a web service with kept connections. `ca_file`, `client_cert` and `client_key` of the values are read with the first request. */
export function openWebService(address: string, values: TargetValues, timeoutMs: number): WebService {
  const { origin, pathname, search, username, password } = new URL(address);
  const account = username === '' ? {} : basicAuthorization(decodeURIComponent(username), decodeURIComponent(password));
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
        return await dispatched(await used, { ...whole, headers: { ...account, ...headers } }, timeoutMs);
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

/** Uses the callbacks of the client: a stream and a promise for each part of an answer cost more than the request. */
function dispatched(pool: Pool, request: Required<Pick<WebServiceRequest, 'path'>> & WebServiceRequest, ms: number) {
  return new Promise<WebServiceAnswer>((resolve, reject) => {
    let abort: ((reason: Error) => void) | undefined;
    const fail = (error: Error) => {
      clearTimeout(late);
      reject(error);
      abort?.(error);
    };
    const late = setTimeout(() => fail(new DeliveryError('unavailable', `it did not answer within ${ms} ms`)), ms);
    late.unref();
    let status = 0;
    let size = 0;
    const chunks: Buffer[] = [];
    pool.dispatch(request, {
      onRequestStart(controller) {
        abort = (reason) => controller.abort(reason);
      },
      onResponseStart(_controller, code) {
        status = code;
      },
      onResponseData(_controller, chunk) {
        size += chunk.length;
        if (size > maxBytes) fail(new DeliveryError('unavailable', `its answer is longer than ${maxBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        clearTimeout(late);
        resolve({ status, text: size === 0 ? '' : Buffer.concat(chunks).toString() });
      },
      onResponseError(_controller, error) {
        clearTimeout(late);
        reject(error);
      },
    });
  });
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
