import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { hasFailed, printSteps, type SignInStep } from './sign-in-steps.ts';

/** Walks the way of a sign-in at the directory on the server, without a password, and shows each step. Exits with 1 where one failed. */
export async function testLdap(context: Context, [alias = '', person]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { steps } = await admin.openedJson<{ readonly steps: readonly SignInStep[] }>({
    method: 'POST',
    api: 'coffer',
    call: 'ldap-test',
    body: person === undefined ? {} : { person },
    sealed: true,
  });
  printSteps(context, 'ldap', steps);
  if (hasFailed(steps)) {
    const what = person === undefined ? 'The directory cannot be used as it is' : `${person} cannot sign in as it is`;
    throw new CliError('Reported', what);
  }
  if (person === undefined)
    context.output.hint('\nSo far nobody was looked for. Go on with a person: their name or DN');
}
