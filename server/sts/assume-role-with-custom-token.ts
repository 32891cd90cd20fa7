import { element } from '../../protocol/s3/xml-writer.ts';
import type { IdentityPluginSettings } from '../../platform/settings/identity-settings.ts';
import { variableClaims } from '../access/claim-variables.ts';
import { GuessLimits } from '../access/guess-limits.ts';
import type { IdentityReader } from '../identities/identities.ts';
import { expirationIn } from './credential-lifetime.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { type AskPlugin, pluginRoleId } from './identity-plugin.ts';
import { checkSession, sessionRequest } from './session-request.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';
import { limited, StsError } from './sts-error.ts';

export interface CustomTokenServices extends GrantServices {
  /** Absent where none is configured. */
  readonly plugin?: { readonly settings: IdentityPluginSettings; readonly ask: AskPlugin };
  /** '' where none was set. */
  readonly region: string;
  readonly identities: Pick<IdentityReader, 'policy' | 'policiesOf'>;
  readonly clock: () => Date;
}

/** Characters; it is sent on in an address. */
const longestToken = 8_192;
/** Seconds. */
const defaultDuration = 3_600;

/** Credentials for whoever has a token that a service of the operator's own knows. */
export function assumeRoleWithCustomToken(services: CustomTokenServices): StsAction {
  const limits = new GuessLimits(services.clock);
  return {
    name: 'AssumeRoleWithCustomToken',
    async serve(parameters, request) {
      const { watch } = request;
      const { plugin } = services;
      const [token, roleArn] = [parameters.required('Token'), parameters.required('RoleArn')];
      const session = sessionRequest(parameters);
      checkSession(session);
      if (plugin === undefined) {
        throw new StsError('InvalidParameterValue', 'No identity plugin is configured; set SVC_IDENTITY_PLUGIN_URL.');
      }
      if (token.length > longestToken) {
        throw new StsError('InvalidParameterValue', `Token is longer than ${longestToken} characters.`);
      }
      const role = pluginRoleId(plugin.settings);
      if (/^arn:minio:iam:[^:]*::role\/(.+)$/.exec(roleArn)?.[1] !== role) {
        const known = `arn:minio:iam:${services.region}::role/${role}`;
        throw new StsError('InvalidParameterValue', `RoleArn must be that of the identity plugin, ${known}.`);
      }
      const policies = await existing(plugin.settings.rolePolicy, services.identities);
      const asked = { source: 'custom', provider: 'plugin' } as const;
      watch?.bearerIs(asked);
      const {
        user,
        maxSeconds,
        claims: all,
      } = await limited(() => limits.attempt({ from: request }, () => plugin.ask(token), isRefusedToken));
      const claims = variableClaims(all, { lists: true });
      watch?.bearerIs({ ...asked, subject: user, name: user, claims });
      const now = services.clock();
      const parent = `custom:${user}`;
      const granted = await grantCredentials(services, {
        action: 'AssumeRoleWithCustomToken',
        watch,
        from: request,
        subject: {
          kind: 'federated',
          ...asked,
          parent,
          displayName: user,
          policies,
          targets: [],
          claims,
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

function isRefusedToken(error: unknown): boolean {
  return error instanceof StsError && error.code === 'AccessDenied';
}

async function existing(names: readonly string[], identities: Pick<IdentityReader, 'policy'>): Promise<string[]> {
  const found = await Promise.all(names.map((name) => identities.policy(name)));
  const policies = names.filter((_, at) => found[at] !== undefined);
  if (policies.length > 0) return policies;
  const named = names.map((name) => `\`${name}\``).join(', ');
  throw new StsError(
    'InvalidParameterValue',
    `None of the given policies (${named}) are defined, credentials will not be generated. They come from ROLE_POLICY of the plugin.`,
  );
}
