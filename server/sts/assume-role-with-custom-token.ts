import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { createLimitedFetch, type LimitedFetch } from '../../platform/http/limited-fetch.ts';
import type { IdentityPluginSettings } from '../../platform/settings/identity-settings.ts';
import { maxDuration, minDuration, expirationIn, checkSession, sessionRequest, type StsAction } from './sts-request.ts';
import { assumedRoleUser, credentialsElement, asThrottling, stsError, isStsError } from './sts-error.ts';
import { element } from '../../protocol/s3/xml-writer.ts';
import { policyClaims, variableClaims } from '../auth/condition-keys.ts';
import { GuessLimits } from '../auth/guess-limits.ts';
import { printableName } from '../auth/identities/subject.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** The answer of a plugin. */
interface PluginVerdict {
  readonly user: string;
  readonly maxSeconds: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Asks the plugin for the user of a token. Rejects with a `RequestError`. */
type AskPlugin = (token: string) => Promise<PluginVerdict>;

/** Limits of a call. */
const bounds = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

const accepted = z.object({
  // The name becomes part of record keys.
  user: z.string().min(1).max(256),
  maxValiditySeconds: z.int().min(minDuration).max(maxDuration),
  claims: nameRecord(z.string(), z.unknown()).nullish(),
});
const rejected = z.object({ reason: z.string() });

/** Calls a plugin in MinIO's protocol: `POST URL?token=…`, answered by 200 with the user, or by 403 with a reason. */
export function askPlugin(settings: IdentityPluginSettings): AskPlugin {
  let fetch: Promise<LimitedFetch> | undefined;
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
    // A gateway before the plugin answers 403 too, without a reason in JSON.
    const reason = status === 403 ? rejected.safeParse(jsonOf(text)).data?.reason : undefined;
    if (reason !== undefined) {
      throw stsError(
        'AccessDenied',
        `The identity plugin refuses the token: ${reason.replaceAll(token, '…').slice(0, 500)}`,
      );
    }
    if (status !== 200) throw unusable(`it answered ${status}`);
    const verdict = accepted.safeParse(jsonOf(text));
    if (!verdict.success) throw unusable(`its answer is not what was expected: ${z.prettifyError(verdict.error)}`);
    const { user, maxValiditySeconds, claims } = verdict.data;
    return { user, maxSeconds: maxValiditySeconds, claims: claims ?? {} };
  };
}

/** Returns the last part of the RoleArn. */
function pluginRoleId({ roleId, url }: IdentityPluginSettings): string {
  return `idmp-${roleId ?? createHash('sha1').update(url).digest('base64url')}`;
}

async function openFetch({ caFile }: IdentityPluginSettings): Promise<LimitedFetch> {
  return createLimitedFetch({ ...bounds, ...(caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(why: string, cause?: unknown): RequestError {
  return stsError('IDPCommunicationError', `The identity plugin cannot be used now: ${why}.`, { cause });
}

interface CustomTokenServices extends GrantServices {
  /** Absent if none is configured. */
  readonly plugin?: { readonly settings: IdentityPluginSettings; readonly ask: AskPlugin };
  /** '' if none is set. */
  readonly region: string;
  readonly identities: Pick<IdentityReader, 'policy' | 'policiesOf'>;
  readonly clock: () => Date;
}

/** Characters. The token becomes part of a URL. */
const maxTokenLength = 8_192;
/** Seconds. */
const defaultDuration = 3_600;

/** Credentials for a token that the operator's identity plugin accepts. */
export function assumeRoleWithCustomToken(services: CustomTokenServices): StsAction {
  const limits = new GuessLimits(services.clock);
  return {
    name: 'AssumeRoleWithCustomToken',
    async serve(parameters, request) {
      const { audit } = request;
      const { plugin } = services;
      const [token, roleArn] = [parameters.required('Token'), parameters.required('RoleArn')];
      const session = sessionRequest(parameters);
      checkSession(session);
      if (plugin === undefined) {
        throw stsError('InvalidParameterValue', 'No identity plugin is configured; set SVC_IDENTITY_PLUGIN_URL.');
      }
      if (token.length > maxTokenLength) {
        throw stsError('InvalidParameterValue', `Token is longer than ${maxTokenLength} characters.`);
      }
      const role = pluginRoleId(plugin.settings);
      if (/^arn:minio:iam:[^:]*::role\/(.+)$/.exec(roleArn)?.[1] !== role) {
        const known = `arn:minio:iam:${services.region}::role/${role}`;
        throw stsError('InvalidParameterValue', `RoleArn must be that of the identity plugin, ${known}.`);
      }
      const policies = await existing(plugin.settings.rolePolicy, services.identities);
      const asked = { source: 'custom', provider: 'plugin' } as const;
      audit?.setBearer(asked);
      const { user, maxSeconds, claims } = await asThrottling(() =>
        limits.attempt({ from: request }, () => plugin.ask(token), isRejectedToken),
      );
      const audited = { subject: user, name: printableName(user), claims: variableClaims(claims, { lists: true }) };
      audit?.setBearer({ ...asked, ...audited });
      const now = services.clock();
      const parent = `custom:${user}`;
      const granted = await grantCredentials(services, {
        action: 'AssumeRoleWithCustomToken',
        audit,
        from: request,
        subject: {
          kind: 'federated',
          ...asked,
          parent,
          displayName: printableName(user),
          policies,
          targets: [],
          ...policyClaims(claims),
        },
        parentName: parent,
        roleArn,
        session,
        expiration: expirationIn(Math.min(session.durationSeconds ?? defaultDuration, maxSeconds), now),
        now,
      });
      const result = [assumedRoleUser(roleArn, granted), credentialsElement(granted), element('AssumedUser', parent)];
      return { result, granted };
    },
  };
}

function isRejectedToken(error: unknown): boolean {
  return isStsError(error) && error.code === 'AccessDenied';
}

async function existing(names: readonly string[], identities: Pick<IdentityReader, 'policy'>): Promise<string[]> {
  const found = await Promise.all(names.map((name) => identities.policy(name)));
  const policies = names.filter((_, at) => found[at] !== undefined);
  if (policies.length > 0) return policies;
  const named = names.map((name) => `\`${name}\``).join(', ');
  throw stsError(
    'InvalidParameterValue',
    `None of the given policies (${named}) are defined, credentials will not be generated. They come from ROLE_POLICY of the plugin.`,
  );
}
