import { parseKeyValues } from '../../../protocol/settings/key-values.ts';
import type { IdentityProviderConfigurations, Saved } from '../../federation/configurations/provider-configurations.ts';
import { requireChangeOfProviders } from '../../administration/caller.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed, cofferPath, sealedJsonBody, json } from '../call.ts';
import { z } from 'zod';
import { OpenIdError } from '../../../platform/openid/errors.ts';
import type { SignInProof, SignInTest } from '../../federation/sign-in-test.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Identity providers for `mc idp openid` and `mc idp ldap`: `idp-config/TYPE[/NAME]`. */
export const idpConfigRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/?$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      const [type = ''] = call.parts;
      const list = await kindOf(call).list();
      return sealed(list.map(({ name, enabled, roleArn }) => ({ type, name, enabled, roleARN: roleArn })));
    },
  },
  {
    method: 'GET',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      const [type = '', name = ''] = call.parts;
      const found = await kindOf(call).get(name);
      if (found === undefined) {
        const which = name === '_' ? `default ${type} configuration` : `${type} configuration ${name}`;
        throw adminError('XMinioAdminNoSuchConfigTarget', `There is no ${which}.`);
      }
      const isEnv = found.origin === 'environment';
      const info = found.values.map(({ key, value }) => ({ key, value, isCfg: !isEnv, isEnv }));
      const role = found.roleArn === undefined ? [] : [roleEntry(found.roleArn)];
      return sealed({ type, name, info: [...info, ...role] });
    },
  },
  {
    method: 'PUT|POST',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      await requireChangeOfProviders(call);
      const values = parseKeyValues((await call.sealedBody()).toString());
      const mode = call.request.method === 'PUT' ? 'add' : 'update';
      const unproven = call.query.get('force') === 'true';
      return saved(await kindOf(call).save(call.parts[1] ?? '_', values, mode, { unproven }));
    },
  },
  {
    method: 'DELETE',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    serve: async (call) => saved(await kindOf(call).remove(call.parts[1] ?? '_')),
  },
];

/** Without this header, clients ask the user to restart the server. */
export function saved({ applied }: Saved): AdminAnswer {
  return applied ? { kind: 'none', headers: { 'x-minio-config-applied': 'true' } } : { kind: 'none' };
}

function kindOf({ services, parts: [type = ''] }: AdminCall): IdentityProviderConfigurations {
  const kinds = services.identityProviders ?? [];
  const found = kinds.find(({ subsystem }) => subsystem === `identity_${type}`);
  if (found !== undefined) return found;
  const known = kinds.map(({ subsystem }) => subsystem.replace('identity_', '')).join(', ');
  throw adminError(
    'XMinioAdminNoSuchConfigTarget',
    `Identity providers of type ${JSON.stringify(type.slice(0, 40))} cannot be configured here; these can: ${known}.`,
  );
}

function roleEntry(value: string) {
  return { key: 'roleARN', value, isCfg: false, isEnv: false };
}

/** Coffer's own call: tests a sign-in at the directory without a password: `coffer idp ldap test`. */
export const ldapTestRoutes: readonly Route[] = [
  { method: 'POST', path: cofferPath('ldap-test'), action: 'admin:ConfigUpdate', serve: testLdap },
];

const ldapQuestion = z.strictObject({
  /** A name or a DN. */
  person: z.string().trim().min(1).max(1_024).optional(),
});

async function testLdap(call: AdminCall): Promise<AdminAnswer> {
  const { person } = await sealedJsonBody(call, ldapQuestion);
  const kind = call.services.identityProviders?.find(({ subsystem }) => subsystem === 'identity_ldap');
  if (kind?.test === undefined) throw adminError('XCofferRefused', 'This server tests no directory.');
  return sealed({ steps: await kind.test('_', undefined, person) });
}

/** Coffer's own call: tests a sign-in at an OpenID provider, with a user or as far as possible without one. */
export const openIdTestRoutes: readonly Route[] = [
  { method: 'POST', path: cofferPath('openid-test/([^/]+)'), action: 'admin:ConfigUpdate', serve: testOpenId },
];

const text = z.string().min(1).max(20_000);

/** One way to get a token. Without any, it tests the steps that need no user. */
const openIdQuestion = z.strictObject({
  token: text.optional(),
  user: text.optional(),
  password: text.optional(),
  deviceCode: text.optional(),
  /** Begins a device login. */
  device: z.literal(true).optional(),
});

async function testOpenId(call: AdminCall): Promise<AdminAnswer> {
  const [name = '_'] = call.parts;
  const asked = await sealedJsonBody(call, openIdQuestion);
  const signInTest = signInTestOf(call);
  if (asked.device) return sealed({ device: await beginDevice(signInTest, name) });
  const proof = proofOf(asked);
  // A poll during a device login repeats no earlier steps.
  if (proof?.kind === 'device') return sealed(answerOf(await signInTest.run(name, proof)));
  const before = await testProvider(call, name);
  const broke = before.some(({ outcome }) => outcome === 'failed');
  if (proof === undefined || broke) return sealed({ steps: before });
  const result = answerOf(await signInTest.run(name, proof));
  return sealed(result.steps === undefined ? result : { steps: [...before, ...result.steps] });
}

async function testProvider({ services }: AdminCall, name: string) {
  const kind = services.identityProviders?.find(({ subsystem }) => subsystem === 'identity_openid');
  if (kind?.test === undefined) throw adminError('XCofferRefused', 'This server tests no OpenID providers.');
  if ((await kind.get(name)) === undefined) {
    const known = (await kind.list()).map((one) => one.name).join(', ') || 'none';
    throw adminError(
      'XMinioAdminConfigIDPCfgNameDoesNotExist',
      `There is no OpenID configuration ${JSON.stringify(name.slice(0, 64))}; configured: ${known}.`,
    );
  }
  return kind.test(name);
}

function signInTestOf({ services }: AdminCall): SignInTest {
  if (services.signInTest !== undefined) return services.signInTest;
  throw adminError('XCofferRefused', 'This server tests no OpenID providers.');
}

async function beginDevice(signInTest: SignInTest, name: string) {
  try {
    return await signInTest.beginDevice(name);
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    throw adminError('XCofferRefused', error.message, { cause: error });
  }
}

function proofOf({ token, user, password, deviceCode }: z.infer<typeof openIdQuestion>): SignInProof | undefined {
  if (token !== undefined) return { kind: 'token', token: token.trim() };
  if (deviceCode !== undefined) return { kind: 'device', deviceCode };
  if (user === undefined) return undefined;
  if (password !== undefined) return { kind: 'password', user, password };
  throw adminError('XCofferInvalidRequest', 'With a user the password is needed too.');
}

function answerOf(result: Awaited<ReturnType<SignInTest['run']>>) {
  return result.kind === 'done' ? { steps: result.steps } : { pending: { slower: result.slower } };
}

/** Checks now whether external users still exist; `user` selects one by parent, subject or display name. */
export const userStatusCheckRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/minio\/admin\/coffer\/v1\/identity-check$/,
    action: 'admin:CheckIdentities',
    slow: true,
    async serve({ services, query }) {
      if (services.userStatusCheck === undefined) {
        throw adminError('XCofferRefused', 'This server does not check the status of external users.');
      }
      return json(await services.userStatusCheck.run(query.get('user') || undefined));
    },
  },
];
