import { counted } from '../../../platform/text/message-text.ts';
import type { Context } from '../context.ts';
import { printable } from '../../../platform/text/printable.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminOf, pathPart, type AdminClient } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { readDocument } from '../../terminal/io.ts';
import { secret } from '../../terminal/prompt.ts';

/** One step of a sign-in that the server tries. */
export interface SignInStep {
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}

const marks: Readonly<Record<SignInStep['outcome'], string>> = { ok: '✔', failed: '✘', unclear: '?', skipped: '-' };

function printSteps({ output }: Context, provider: string, steps: readonly SignInStep[]): void {
  const width = Math.max(12, ...steps.map(({ step }) => step.length));
  const lines = steps.map(
    ({ step, outcome, message }) => `${marks[outcome]} ${printable(step).padEnd(width)} ${printable(message)}`,
  );
  output.list(
    lines.join('\n'),
    steps.map((step) => ({ provider, ...step })),
  );
}

function hasFailed(steps: readonly SignInStep[]): boolean {
  return steps.some(({ outcome }) => outcome === 'failed');
}

interface SignInOptions {
  readonly tokenFile?: string;
  readonly user?: string;
  readonly device?: boolean;
}

interface Answer {
  readonly steps?: readonly SignInStep[];
  /** The user has not entered the code yet. */
  readonly pending?: { readonly slower: boolean };
  readonly device?: DeviceLogin;
}

/** Seconds. */
interface DeviceLogin {
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete?: string;
  readonly deviceCode: string;
  readonly interval: number;
  readonly expiresIn: number;
}

/** Makes the server try a sign-in and shows each step. Exits with 1 when one fails. */
export async function testOpenId(
  context: Context,
  [alias = '', name = '_']: readonly string[],
  options: SignInOptions,
): Promise<void> {
  const ways = [options.tokenFile, options.user, options.device].filter((way) => way !== undefined);
  if (ways.length > 1) throw new ProgramError('BadArgument', 'Give one of --token-file, --user and --device');
  const admin = await adminOf(context, alias);
  const proof = await proofOf(context, options);
  const ask = (body: object) => question(admin, name, body);
  const steps: SignInStep[] = [...((await ask(proof)).steps ?? [])];
  printSteps(context, name, steps);
  if (options.device === true && !hasFailed(steps)) {
    const walked = await byDevice(context, ask);
    printSteps(context, name, walked);
    steps.push(...walked);
  }
  if (hasFailed(steps)) {
    throw new ProgramError('Reported', `The provider ${name} does not work`);
  }
  if (ways.length === 0) {
    context.output.hint(`\nThe test had no login. Continue with a user: --device, --user NAME or --token-file FILE`);
  }
}

async function question(admin: AdminClient, name: string, body: object): Promise<Answer> {
  return admin.decryptedJson<Answer>({
    method: 'POST',
    api: 'coffer',
    call: `openid-test/${pathPart(name)}`,
    body,
    encrypted: true,
  });
}

async function proofOf(context: Context, { tokenFile, user }: SignInOptions): Promise<object> {
  if (user !== undefined) return { user, password: await secret(context, `password of ${user}`, undefined) };
  if (tokenFile === undefined) return {};
  const token = await readDocument(context.io, tokenFile);
  if (token.trim() === '') throw new ProgramError('BadArgument', `There is no token in \`${tokenFile}\``);
  return { token: token.trim() };
}

/** Shows the code and polls the server until the user has entered it, or it expires. */
async function byDevice(context: Context, ask: (body: object) => Promise<Answer>): Promise<readonly SignInStep[]> {
  const { device } = await ask({ device: true });
  if (device === undefined) throw new ProgramError('Failed', 'The server began no login by a code');
  const { userCode, verificationUri, verificationUriComplete = verificationUri, deviceCode, expiresIn } = device;
  context.output.message(`\nOpen ${printable(verificationUriComplete)}\nand enter the code ${printable(userCode)}\n`, {
    verificationUri,
    verificationUriComplete,
    userCode,
    expiresIn,
  });
  const deadline = performance.now() + expiresIn * 1_000;
  let interval = device.interval;
  while (performance.now() < deadline) {
    await sleep(interval * 1_000, undefined, { signal: context.signal });
    const answer = await ask({ deviceCode });
    if (answer.pending === undefined) return answer.steps ?? [];
    // RFC 8628 (3.5) demands this.
    if (answer.pending.slower) interval += 5;
  }
  throw new ProgramError('Failed', `The code was not entered within ${counted(expiresIn, 'second')}; start again`);
}

/** Makes the server try a sign-in at the LDAP directory without a password, and shows each step. Exits with 1 when one fails. */
export async function testLdap(context: Context, [alias = '', user]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { steps } = await admin.decryptedJson<{ readonly steps: readonly SignInStep[] }>({
    method: 'POST',
    api: 'coffer',
    call: 'ldap-test',
    body: user === undefined ? {} : { person: user },
    encrypted: true,
  });
  printSteps(context, 'ldap', steps);
  if (hasFailed(steps)) {
    const what = user === undefined ? 'The directory does not work' : `${user} cannot sign in`;
    throw new ProgramError('Reported', what);
  }
  if (user === undefined) context.output.hint('\nThe test had no user. Continue with the name or DN of one');
}
