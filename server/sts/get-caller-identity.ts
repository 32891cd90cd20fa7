import { element } from '../../protocol/s3/xml-writer.ts';
import type { AuthenticatedPrincipal } from '../access/principal.ts';
import { accountId as account } from '../access/role-arn.ts';
import { displayNameOf, subjectOf } from '../access/subject-of.ts';
import type { SignedCaller } from './signed-caller.ts';
import type { StsAction } from './sts-action.ts';

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export function getCallerIdentity(services: { readonly caller: SignedCaller }): StsAction {
  return {
    name: 'GetCallerIdentity',
    async serve(parameters, request) {
      const caller = await services.caller(request, parameters);
      const result = [element('Arn', arnOf(caller)), element('UserId', caller.accessKey), element('Account', account)];
      return { result };
    },
  };
}

function arnOf(caller: AuthenticatedPrincipal): string {
  const subject = subjectOf(caller);
  if (subject?.kind === 'root') return `arn:aws:iam::${account}:root`;
  if (caller.kind === 'user') return `arn:aws:iam::${account}:user/${displayNameOf(caller)}`;
  const through = subject?.kind === 'federated' ? subject.provider : 'user';
  return `arn:aws:sts::${account}:assumed-role/${through}/${displayNameOf(caller)}`;
}
