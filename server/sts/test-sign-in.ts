import { claimAt } from '../../platform/openid/claims.ts';
import { isForPrograms } from '../../platform/openid/discovery.ts';
import { TokenError, OpenIdError } from '../../platform/openid/errors.ts';
import { beginDeviceLogin, deviceToken, passwordToken, type TokenClient } from '../../platform/openid/token-grants.ts';
import { verifyToken, type VerifiedToken } from '../../platform/openid/verify-token.ts';
import { openIdUser, userStatusAt, hasUserStatus } from '../federation/openid-user.ts';
import type { OpenIdProvider, OpenIdProviders } from '../federation/openid-providers.ts';
import type { SignInProof, SignInStep, SignInTest, SignInTestResult } from '../federation/sign-in-test.ts';
import { allClaims, expectations, readyStatus, type Ready } from './assume-role-with-web-identity.ts';
import { grantedRights, type RightsSource } from './granted-rights.ts';
import { stsError, isStsError } from './sts-error.ts';

interface SignInTestServices {
  readonly providers: Pick<OpenIdProviders, 'byId' | 'list' | 'started'>;
  readonly identities: RightsSource;
  readonly clock?: () => Date;
}

/** Runs the steps of `AssumeRoleWithWebIdentity` with the same functions and reports each step. It makes no credentials. */
export function createSignInTest(services: SignInTestServices): SignInTest {
  const { identities } = services;

  async function usable(name: string): Promise<{ provider: OpenIdProvider; ready: Ready }> {
    await services.providers.started;
    const provider = services.providers.byId(name);
    if (provider !== undefined) return { provider, ready: readyStatus(provider) };
    const known = services.providers.list.map(({ id }) => id).join(', ') || 'none';
    throw stsError('InvalidParameterValue', `The provider ${name} is switched off, or not there. In use: ${known}.`);
  }

  async function runSteps(
    test: TestSteps,
    name: string,
    proof: SignInProof,
  ): Promise<'pending' | 'slower' | undefined> {
    const found = await test.step('Provider', () => usable(name), describeProvider);
    if (found === undefined) return undefined;
    const { provider, ready } = found;
    const got = await test.step(
      'Token',
      () => tokenBy(proof, provider, ready),
      (token) => (token.kind === 'pending' ? undefined : `${describeProof(proof)}.`),
    );
    if (got === undefined) return undefined;
    if (got.kind === 'pending') return got.slower ? 'slower' : 'pending';
    const { clock } = services;
    const expected = { ...expectations(provider, ready), ...(clock === undefined ? {} : { clock }) };
    const token = await test.step('Checks', () => verifyToken(got.token, expected), describeToken);
    if (token === undefined) return undefined;
    const bearer = { token: got.token };
    const claims = await test.step(
      'Claims',
      () => allClaims(provider, ready, token, bearer),
      (all) => `${provider.settings.claimUserinfo ? 'With those of userinfo: ' : ''}${namesOf(all)}.`,
    );
    if (claims === undefined) return undefined;
    const { rolePolicy, claimName } = provider.settings;
    const source = rolePolicy.length > 0 ? 'the role policy' : `the claim "${claimName}"`;
    const value = rolePolicy.length > 0 ? rolePolicy : claimAt(claims, claimName);
    await test.step(
      'Policies',
      () => grantedRights(claims, provider.settings, identities),
      ({ policies, targets }) => {
        const attached = targets.length === 0 ? '' : ` And what is attached to ${targets.length} of its claims.`;
        return `From ${source}, which is ${JSON.stringify(value ?? null).slice(0, 500)}: ${policies.join(', ') || 'none'}.${attached}`;
      },
    );
    if (hasUserStatus(provider)) {
      const { subjectId, displayName } = openIdUser(claims, token.subject, provider.settings);
      await test.step('Admin check', () => checkUserStatus(provider, subjectId, displayName), describeActive);
    }
    return undefined;
  }

  return {
    async run(name, proof): Promise<SignInTestResult> {
      const test = new TestSteps();
      const pending = await runSteps(test, name, proof);
      if (pending !== undefined) return { kind: 'pending', slower: pending === 'slower' };
      return { kind: 'done', steps: test.steps };
    },
    async beginDevice(name) {
      const { provider, ready } = await usable(name).catch(asOpenIdError);
      requireSignIn(provider, ready);
      return beginDeviceLogin(ready.metadata, clientOf(provider));
    },
  };
}

function asOpenIdError(error: unknown): never {
  throw isStsError(error) ? new OpenIdError('Unreachable', error.message, { cause: error }) : error;
}

/** The steps so far. */
class TestSteps {
  readonly steps: SignInStep[] = [];

  /** Resolves with undefined after a failure: dependent steps cannot run. */
  async step<T>(step: string, work: () => Promise<T>, say: (result: T) => string | undefined): Promise<T | undefined> {
    try {
      const result = await work();
      const message = say(result);
      if (message !== undefined) this.steps.push({ step, outcome: 'ok', message });
      return result;
    } catch (error) {
      if (!isSignInError(error)) throw error;
      this.steps.push({ step, outcome: 'failed', message: error.message });
      return undefined;
    }
  }
}

function isSignInError(error: unknown): error is Error {
  return isStsError(error) || error instanceof TokenError || error instanceof OpenIdError;
}

/** Throws `OpenIdError` where the issuer gives tokens to programs alone, so that nobody can get one by a sign-in. */
function requireSignIn({ id }: OpenIdProvider, { metadata }: Ready): void {
  if (!isForPrograms(metadata)) return;
  throw new OpenIdError(
    'EndpointMissing',
    `The provider ${id} gives tokens to programs alone: run the test with a token of one, by --token-file.`,
  );
}

async function tokenBy(proof: SignInProof, provider: OpenIdProvider, ready: Ready) {
  const { metadata } = ready;
  if (proof.kind !== 'token') requireSignIn(provider, ready);
  switch (proof.kind) {
    case 'token':
      return { kind: 'token', token: proof.token } as const;
    case 'password':
      return { kind: 'token', token: await passwordToken(metadata, clientOf(provider), proof) } as const;
    case 'device':
      return deviceToken(metadata, clientOf(provider), proof.deviceCode);
    default:
      return proof satisfies never;
  }
}

function clientOf({ settings, fetch }: OpenIdProvider): TokenClient {
  const { clientId, clientSecret, clientMethod, scopes } = settings;
  const asked = scopes.length === 0 ? ['openid'] : scopes;
  return { clientId, clientSecret, clientMethod, scopes: asked, fetch };
}

async function checkUserStatus(provider: OpenIdProvider, subjectId: string, name: string): Promise<string> {
  const { kind } = await userStatusAt(provider, subjectId);
  if (kind === 'active') return name;
  const what = kind === 'disabled' ? 'is disabled there' : 'is not there any more';
  throw new TokenError('PersonDisabled', `${name} ${what}: the user gets no credentials.`);
}

function describeProof(proof: SignInProof): string {
  switch (proof.kind) {
    case 'token':
      return 'The one that was given';
    case 'password':
      return `The provider gave one for the name and password of ${proof.user}`;
    case 'device':
      return 'The provider gave one for the code';
    default:
      return proof satisfies never;
  }
}

function describeProvider({ provider, ready }: { readonly provider: OpenIdProvider; readonly ready: Ready }): string {
  const warnings = ready.metadata.warnings.map((warning) => ` ${warning}`).join('');
  return `${provider.id} is in use, with the issuer ${ready.metadata.issuer}.${warnings}`;
}

function describeToken({ subject, expiration }: VerifiedToken): string {
  return `Signature, issuer, audience and times are right; sub is ${JSON.stringify(subject.slice(0, 256))}, good until ${expiration.toISOString()}.`;
}

function describeActive(name: string): string {
  return `The provider says that ${name} is enabled.`;
}

/** Returns only the names of claims; values may be private. */
function namesOf(claims: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(claims).toSorted();
  return names
    .slice(0, 100)
    .map((name) => name.slice(0, 128))
    .join(', ');
}
