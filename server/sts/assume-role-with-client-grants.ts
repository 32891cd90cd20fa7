import { element } from '../../protocol/s3/xml-writer.ts';
import type { AssumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts';
import { sessionRequest } from './session-request.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';
import { StsError } from './sts-error.ts';

/** MinIO's older name for web identity, for applications that got their token by client credentials: the same checks. */
export function assumeRoleWithClientGrants(assume: AssumeRoleWithWebIdentity): StsAction {
  return {
    name: 'AssumeRoleWithClientGrants',
    async serve(parameters, request) {
      const token = parameters.required('Token');
      const session = sessionRequest(parameters);
      try {
        const role = await assume({
          token,
          watch: request.watch,
          from: request,
          ...session,
          action: 'AssumeRoleWithClientGrants',
        });
        const granted = role.credentials;
        const result = [
          assumedRoleUser(role.roleArn, granted),
          credentialsElement(granted),
          element('SubjectFromToken', role.subject),
        ];
        return { result, granted };
      } catch (error) {
        if (!(error instanceof StsError) || error.code !== 'InvalidIdentityToken') throw error;
        throw new StsError('InvalidClientGrantsToken', error.message, { cause: error });
      }
    },
  };
}
