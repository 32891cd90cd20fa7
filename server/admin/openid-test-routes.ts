import { z } from 'zod';
import { OpenIdProblem } from '../../platform/openid/openid-problem.ts';
import type { SignInProof, SignInTrial } from '../access/sign-in-trial.ts';
import { AdminError } from './admin-error.ts';
import { cofferPath } from './admin-path.ts';
import { sealedJsonBody } from './json-body.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';

/** Coffer's own call: the way of a sign-in by an OpenID provider, step by step, with a person or as far as it goes without one. */
export const openIdTestRoutes: readonly Route[] = [
  { method: 'POST', path: cofferPath('openid-test/([^/]+)'), action: 'admin:ConfigUpdate', serve: test },
];

const text = z.string().min(1).max(20_000);

/** One way of several to come by a token; none asks for what can be tried without one. */
const question = z.strictObject({
  token: text.optional(),
  user: text.optional(),
  password: text.optional(),
  deviceCode: text.optional(),
  /** Begins a login by a code. */
  device: z.literal(true).optional(),
});

async function test(call: AdminCall): Promise<AdminAnswer> {
  const [name = '_'] = call.parts;
  const asked = await sealedJsonBody(call, question);
  const trial = trialOf(call);
  if (asked.device) return sealed({ device: await beginDevice(trial, name) });
  const proof = proofOf(asked);
  // While somebody is at their browser, the rest was told before.
  if (proof?.kind === 'device') return sealed(answerOf(await trial.walk(name, proof)));
  const before = await withoutPerson(call, name);
  const broke = before.some(({ outcome }) => outcome === 'failed');
  if (proof === undefined || broke) return sealed({ steps: before });
  const walked = answerOf(await trial.walk(name, proof));
  return sealed(walked.steps === undefined ? walked : { steps: [...before, ...walked.steps] });
}

async function withoutPerson({ services }: AdminCall, name: string) {
  const kind = services.identityProviders?.find(({ subsystem }) => subsystem === 'identity_openid');
  if (kind?.test === undefined) throw new AdminError('XCofferRefused', 'This server tests no OpenID providers.');
  if ((await kind.get(name)) === undefined) {
    const known = (await kind.list()).map((one) => one.name).join(', ') || 'none';
    throw new AdminError(
      'XMinioAdminConfigIDPCfgNameDoesNotExist',
      `There is no OpenID configuration ${JSON.stringify(name.slice(0, 64))}; configured: ${known}.`,
    );
  }
  return kind.test(name);
}

function trialOf({ services }: AdminCall): SignInTrial {
  if (services.signInTrial !== undefined) return services.signInTrial;
  throw new AdminError('XCofferRefused', 'This server tests no OpenID providers.');
}

async function beginDevice(trial: SignInTrial, name: string) {
  try {
    return await trial.beginDevice(name);
  } catch (error) {
    if (!(error instanceof OpenIdProblem)) throw error;
    throw new AdminError('XCofferRefused', error.message, { cause: error });
  }
}

function proofOf({ token, user, password, deviceCode }: z.infer<typeof question>): SignInProof | undefined {
  if (token !== undefined) return { kind: 'token', token: token.trim() };
  if (deviceCode !== undefined) return { kind: 'device', deviceCode };
  if (user === undefined) return undefined;
  if (password !== undefined) return { kind: 'password', user, password };
  throw new AdminError('XCofferInvalidRequest', 'With a user the password is needed too.');
}

function answerOf(walk: Awaited<ReturnType<SignInTrial['walk']>>) {
  return walk.kind === 'walked' ? { steps: walk.steps } : { pending: { slower: walk.slower } };
}
