import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { waitsForHeader, readMissing, type Missing } from '../../../../protocol/waits-for.ts';
import type { StoreHealth, Instance } from '../../../contract/runtime.ts';

export interface HealthRequest {
  readonly url: string;
  /** PEM of the authorities of a certificate that the operator made; empty for any other. */
  readonly authorities: readonly string[];
}

/** Asks once. Errors when no answer comes. */
export type AskHealth = (request: HealthRequest) => Promise<{
  readonly status: number;
  /** The header of a server that is not ready. */
  readonly waitsFor?: string;
}>;

/** Milliseconds: a healthy store answers quickly. */
const timeoutMs = 3_000;
/** Milliseconds: longer than a key service waits for its key store. */
const keyStoreTimeoutMs = 20_000;

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

export const askHealth: AskHealth = (request) => askWithin(timeoutMs, request);

/** As `askHealth`, for a key service that asks its key store. */
export const askKeyStore: AskHealth = (request) => askWithin(keyStoreTimeoutMs, request);

function askWithin(timeoutMs: number, { url, authorities }: HealthRequest): ReturnType<AskHealth> {
  return new Promise((resolve, reject) => {
    const secure = url.startsWith('https:');
    const tls = {
      ca: [...rootCertificates, ...authorities],
      // The authority of a user's own certificate is unknown, and a kubelet does not check it either.
      rejectUnauthorized: authorities.length > 0,
      // A user's certificate may have only a public name. The request has no secret.
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
}

/** Milliseconds between two requests to the servers of one workload. */
const pauseMs = 15_000;

interface WaitingServersOptions {
  readonly ask: AskHealth;
  /** Called when a server waits for something else. */
  readonly changed: (workload: string) => void;
  readonly now: () => Date;
}

interface Watch {
  /** The asked instance; undefined while every server is ready. */
  request: HealthRequest | undefined;
  waitsFor: Missing | undefined;
  askedAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** Asks running servers that are not ready what they wait for: one server of each workload, and rarely. */
export class WaitingServers {
  readonly #options: WaitingServersOptions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: WaitingServersOptions) {
    this.#options = options;
  }

  /**
   * Answers the instances with the last answer of the asked one. It asks again later, and calls `changed`. `requestTo` is undefined for an
   * instance that cannot be asked.
   */
  look(
    workload: string,
    instances: readonly Instance[],
    requestTo: (instance: string) => HealthRequest | undefined,
  ): readonly Instance[] {
    for (const instance of instances) {
      const { name, state } = instance;
      if (state.kind !== 'not-ready' && state.kind !== 'starting') continue;
      const request = requestTo(name);
      if (request === undefined) continue;
      const waitsFor = this.#watch(workload, request);
      if (waitsFor === undefined) return instances;
      return instances.map((one) => (one === instance ? { ...one, state: { ...state, waitsFor } } : one));
    }
    this.#rest(workload);
    return instances;
  }

  forget(workload: string): void {
    clearTimeout(this.#watches.get(workload)?.timer);
    this.#watches.delete(workload);
  }

  close(): void {
    for (const workload of this.#watches.keys()) this.forget(workload);
  }

  #watch(workload: string, request: HealthRequest): Missing | undefined {
    const watch: Watch = this.#watches.get(workload) ?? {
      request: undefined,
      waitsFor: undefined,
      askedAt: Number.NEGATIVE_INFINITY,
      timer: undefined,
    };
    this.#watches.set(workload, watch);
    if (watch.request?.url !== request.url) watch.waitsFor = undefined;
    watch.request = request;
    if (watch.timer === undefined) this.#askLater(workload, watch);
    return watch.waitsFor;
  }

  /** The time of the last request is kept, so that a server that often changes between ready and not ready is not asked each time. */
  #rest(workload: string): void {
    const watch = this.#watches.get(workload);
    if (watch === undefined) return;
    clearTimeout(watch.timer);
    watch.timer = undefined;
    watch.request = undefined;
    watch.waitsFor = undefined;
  }

  #askLater(workload: string, watch: Watch): void {
    const wait = Math.max(0, watch.askedAt + pauseMs - this.#options.now().getTime());
    watch.timer = setTimeout(() => void this.#ask(workload, watch), Math.min(wait, pauseMs)).unref();
  }

  async #ask(workload: string, watch: Watch): Promise<void> {
    const { request } = watch;
    if (request === undefined) return;
    watch.askedAt = this.#options.now().getTime();
    this.#askLater(workload, watch);
    const waitsFor = await this.#answerTo(request);
    // It became ready meanwhile, or another instance is asked.
    if (watch.request?.url !== request.url || this.#watches.get(workload) !== watch) return;
    if (waitsFor === watch.waitsFor) return;
    watch.waitsFor = waitsFor;
    this.#options.changed(workload);
  }

  /** A server that does not answer has no reason to report; Kubernetes reports its state. */
  async #answerTo(request: HealthRequest): Promise<Missing | undefined> {
    try {
      const { status, waitsFor } = await this.#options.ask(request);
      return status === 503 ? readMissing(waitsFor) : undefined;
    } catch {
      return undefined;
    }
  }
}
