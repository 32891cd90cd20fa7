import { keyServiceLimits } from '../../protocol/key-service/routes.ts';

/** Chooses the endpoints of the key service that a call tries, and their order. */
export class EndpointRotation {
  readonly #endpoints: readonly string[];
  readonly #setAsideMs: number;
  readonly #now: () => number;
  readonly #asideUntil = new Map<string, number>();
  #next = 0;

  /** Throws if an endpoint is not an `https://` address, or if there is none. */
  constructor(endpoints: readonly string[], setAsideMs: number, now: () => number) {
    if (endpoints.length === 0) throw new Error('no key service endpoint is given; one is https://HOST:7373');
    this.#endpoints = [...new Set(endpoints.map(normalizeEndpoint))];
    this.#setAsideMs = setAsideMs;
    this.#now = now;
  }

  /** Returns all endpoints, beginning with the next one in the rotation. Those that failed a moment ago come last. */
  candidates(): readonly string[] {
    const start = this.#next++ % this.#endpoints.length;
    const inTurn = [...this.#endpoints.slice(start), ...this.#endpoints.slice(0, start)];
    const aside = (endpoint: string) => (this.#asideUntil.get(endpoint) ?? 0) > this.#now();
    return [...inTurn.filter((endpoint) => !aside(endpoint)), ...inTurn.filter(aside)];
  }

  failed(endpoint: string): void {
    this.#asideUntil.set(endpoint, this.#now() + this.#setAsideMs);
  }

  worked(endpoint: string): void {
    this.#asideUntil.delete(endpoint);
  }
}

/** Returns the origin of an endpoint, with its port. Throws if it is not an `https://` address. */
export function normalizeEndpoint(text: string): string {
  const written = text.includes('://') ? text : `https://${text}`;
  if (!URL.canParse(written)) throw new Error(`"${text}" is no key service endpoint; one is https://HOST:7373`);
  const url = new URL(written);
  if (url.protocol !== 'https:') throw new Error(`the key service endpoint "${text}" must begin with https://`);
  if (
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    (url.pathname !== '/' && url.pathname !== '')
  ) {
    throw new Error(`the key service endpoint "${url.host}" must be https://HOST:PORT and nothing more`);
  }
  // A URL drops the default port of its scheme, so 443 must be searched in the text.
  if (url.port === '' && !/:443\/?$/.test(written)) url.port = String(keyServiceLimits.defaultPort);
  return url.origin;
}
