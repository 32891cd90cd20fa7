import type { SiteSpeed } from '../administration/sites.ts';
import type { CallPeer, UploadToPeer } from './peer-client.ts';
import type { PeerCredentials } from './signed-request.ts';
import { type SentToSite, speedAnswer } from './peer-messages.ts';
import { credentialsOf } from './site-administration.ts';
import type { Site, SiteState } from './site-state.ts';

type SpeedSite = Pick<Site, 'name' | 'endpoint' | 'deploymentId'> & { readonly kind?: 'server' };

/** Sites, or servers of one deployment, that are measured together. Servers have the id of their process for that of a deployment. */
interface SpeedGroup {
  readonly sites: readonly SpeedSite[];
  readonly credentials: PeerCredentials;
}

interface SiteSpeedOptions {
  readonly group: () => Promise<SpeedGroup | undefined>;
  readonly call: CallPeer;
  readonly upload: UploadToPeer;
  /** The deployment id of this site. */
  readonly self: string;
  /** The call that makes another member of the group send to all others. */
  readonly peerCall?: 'speed' | 'server-speed';
}

export function speedGroup(state: SiteState | undefined): SpeedGroup | undefined {
  return state && { sites: state.sites, credentials: credentialsOf(state) };
}

/** Connections to each site at the same time: one alone does not fill a long way. */
const connections = 4;
/** Milliseconds that the answer of another site may take after its measurement. */
const answerMs = 10_000;

/** The bytes a second that one site sent to each of the others, or the reason why there are none. */
type Row = readonly SentToSite[] | Error;

/** Measures the connections between sites: all of them send to all others at the same time, as they do when they replicate. */
export class SiteSpeeds {
  readonly #options: SiteSpeedOptions;

  constructor(options: SiteSpeedOptions) {
    this.#options = options;
  }

  /** Undefined where this server is not a site. Rejects with the reason of the signal. */
  async measure(durationMs: number, signal: AbortSignal): Promise<readonly SiteSpeed[] | undefined> {
    const { group, self, call, peerCall = 'speed' } = this.#options;
    const state = await group();
    if (state === undefined) return undefined;
    const asked = { method: 'GET', call: peerCall, answer: speedAnswer, idleMs: durationMs + answerMs } as const;
    const query = { duration: String(durationMs) };
    const rows = await Promise.all(
      state.sites.map(async (site): Promise<readonly [string, Row]> => {
        const row =
          site.deploymentId === self
            ? this.#send(state, durationMs, signal)
            : call(site, state.credentials, { ...asked, query }).then(({ sent }) => sent);
        return [site.deploymentId, await row.catch(asError)];
      }),
    );
    signal.throwIfAborted();
    return speedsOf(state.sites, new Map(rows), durationMs);
  }

  /** Sends to all other sites. A busy one has half of the time in which the caller waits for this answer. */
  async sendToOthers(durationMs: number): Promise<readonly SentToSite[]> {
    const state = await this.#options.group();
    return state === undefined ? [] : this.#send(state, durationMs, AbortSignal.timeout(durationMs + answerMs / 2));
  }

  async #send(state: SpeedGroup, durationMs: number, signal: AbortSignal): Promise<readonly SentToSite[]> {
    const others = state.sites.filter(({ deploymentId }) => deploymentId !== this.#options.self);
    return Promise.all(others.map((site) => this.#sendTo(site, state.credentials, { durationMs, signal })));
  }

  async #sendTo(
    site: SpeedSite,
    credentials: PeerCredentials,
    options: { readonly durationMs: number; readonly signal: AbortSignal },
  ): Promise<SentToSite> {
    const { deploymentId } = site;
    try {
      const sent = await Promise.all(
        Array.from({ length: connections }, () => this.#options.upload(site, credentials, options)),
      );
      const rate = sent.reduce((sum, { bytes, ms }) => sum + (bytes * 1_000) / Math.max(1, ms), 0);
      return { deploymentId, bytesPerSecond: Math.round(rate) };
    } catch (error) {
      return { deploymentId, bytesPerSecond: 0, error: asError(error).message };
    }
  }
}

/** Returns what each site sent, and what the others sent to it. */
export function speedsOf(
  sites: readonly Pick<Site, 'name' | 'endpoint' | 'deploymentId'>[],
  rows: ReadonlyMap<string, Row>,
  durationMs: number,
): readonly SiteSpeed[] {
  return sites.map(({ name, endpoint, deploymentId }) => {
    const row = rows.get(deploymentId) ?? new Error('it did not answer');
    const sent = row instanceof Error ? [] : row;
    const received = [...rows.values()]
      .flatMap((other) => (other instanceof Error ? [] : other))
      .filter((to) => to.deploymentId === deploymentId);
    const errors = row instanceof Error ? [row.message] : sent.flatMap(({ error }) => error ?? []);
    return {
      name,
      endpoint,
      sentPerSecond: sumOf(sent),
      receivedPerSecond: sumOf(received),
      durationMs,
      connections: connections * (sites.length - 1),
      ...(errors.length > 0 && { error: errors.join('; ') }),
    };
  });
}

function sumOf(rates: readonly SentToSite[]): number {
  return rates.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
