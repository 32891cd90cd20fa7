import {
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
  startHttpDouble,
  type VirtualClock,
} from './http-double.ts';

/** A double of a stateful key service of the protocol's first generation. */
export class KesDouble {
  readonly #secrets = new Map<string, string>();
  readonly denied = new Set<string>();
  enclave: string | null = null;
  /** Whether it stores its keys in a vault itself. Then it has no calls for secrets. */
  isStateless = false;
  #http: HttpDouble | undefined;

  static async start(clock: VirtualClock, tls: { cert: string; key: string }): Promise<KesDouble> {
    const double = new KesDouble();
    // Like the real one it accepts any certificate, and policies decide.
    const options = { ...tls, requestCert: true, rejectUnauthorized: true, ca: tls.cert };
    double.#http = await startHttpDouble(clock, (request) => double.#answer(request), options);
    return double;
  }

  get http(): HttpDouble {
    if (this.#http === undefined) throw new Error('not started');
    return this.#http;
  }

  #answer({ method, url, body }: DoubleRequest): DoubleAnswer {
    if (url.pathname === '/version') return { status: 200, body: { version: '2023' } };
    if (this.isStateless) return refusal(501, 'not implemented');
    if (url.searchParams.get('enclave') !== this.enclave) return refusal(404, 'enclave does not exist');
    const [, call = '', name = ''] = /^\/v1\/secret\/(\w+)\/(.+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    if (this.denied.has(call)) return refusal(403, 'not authorized: insufficient permissions');
    switch (`${method} ${call}`) {
      case 'POST create':
        return this.#create(name, body);
      case 'GET read': {
        const bytes = this.#secrets.get(name);
        return bytes === undefined
          ? refusal(404, 'secret does not exist')
          : { status: 200, body: { bytes, type: 'generic' } };
      }
      case 'DELETE delete':
        return this.#secrets.delete(name) ? { status: 200 } : refusal(404, 'secret does not exist');
      case 'GET list':
        return { status: 200, body: [...this.#secrets.keys()].map((name) => `${JSON.stringify({ name })}\n`).join('') };
      default:
        return refusal(501, 'not implemented');
    }
  }

  #create(name: string, text: string): DoubleAnswer {
    const { type, bytes } = JSON.parse(text) as { type?: string; bytes?: string };
    if (type !== 'generic' || bytes === undefined) return refusal(400, `unsupported secret type '${type ?? ''}'`);
    if (this.#secrets.has(name)) return refusal(400, 'secret already exists');
    this.#secrets.set(name, bytes);
    return { status: 200 };
  }
}

function refusal(status: number, message: string): DoubleAnswer {
  return { status, body: { message } };
}
