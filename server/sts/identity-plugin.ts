import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createProviderFetch, type ProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { IdentityPluginSettings } from '../../platform/settings/identity-settings.ts';
import { longestDuration, shortestDuration } from './credential-lifetime.ts';
import { StsError } from './sts-error.ts';

/** What a plugin says of a token. */
export interface PluginVerdict {
  readonly user: string;
  readonly maxSeconds: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Asks whose token this is. Rejects with an `StsError`. */
export type AskPlugin = (token: string) => Promise<PluginVerdict>;

/** Of the whole call, milliseconds; and of its answer, bytes. */
const bounds = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

const accepted = z.object({
  // It becomes part of records' keys.
  user: z.string().min(1).max(256),
  maxValiditySeconds: z.int().min(shortestDuration).max(longestDuration),
  claims: z.record(z.string(), z.unknown()).nullish(),
});
const refused = z.object({ reason: z.string() });

/** As MinIO's plugins expect it: `POST URL?token=…`, answered by 200 with whose it is, or by 403 with a reason. */
export function askPlugin(settings: IdentityPluginSettings): AskPlugin {
  let fetch: Promise<ProviderFetch> | undefined;
  return async (token) => {
    const url = new URL(settings.url);
    url.searchParams.set('token', token);
    const headers: Record<string, string> =
      settings.authToken === undefined ? {} : { authorization: settings.authToken };
    let status: number;
    let text: string;
    try {
      fetch ??= openFetch(settings);
      const response = await (await fetch)(url.href, { method: 'POST', headers });
      [status, text] = [response.status, await response.text()];
    } catch (error) {
      fetch = undefined;
      throw unusable(`it does not answer (${error instanceof Error ? error.message : String(error)})`, error);
    }
    if (status === 403) {
      const reason = refused.safeParse(jsonOf(text)).data?.reason;
      throw new StsError(
        'AccessDenied',
        `The identity plugin refuses the token: ${(reason ?? 'no reason given').replaceAll(token, '…').slice(0, 500)}`,
      );
    }
    if (status !== 200) throw unusable(`it answered ${status}`);
    const verdict = accepted.safeParse(jsonOf(text));
    if (!verdict.success) throw unusable(`its answer is not what was expected: ${z.prettifyError(verdict.error)}`);
    const { user, maxValiditySeconds, claims } = verdict.data;
    return { user, maxSeconds: maxValiditySeconds, claims: claims ?? {} };
  };
}

/** The last part of the RoleArn. */
export function pluginRoleId({ roleId, url }: IdentityPluginSettings): string {
  return `idmp-${roleId ?? createHash('sha1').update(url).digest('base64url')}`;
}

async function openFetch({ caFile }: IdentityPluginSettings): Promise<ProviderFetch> {
  return createProviderFetch({ ...bounds, ...(caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(why: string, cause?: unknown): StsError {
  return new StsError('IDPCommunicationError', `The identity plugin cannot be used now: ${why}.`, { cause });
}
