import { element } from '../../protocol/s3/xml-writer.ts';
import type { AssumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts';
import { sessionRequest } from './session-request.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export function webIdentityAction(assume: AssumeRoleWithWebIdentity): StsAction {
  return {
    name: 'AssumeRoleWithWebIdentity',
    async serve(parameters, request) {
      const roleArn = parameters.optional('RoleArn');
      const accessToken = parameters.optional('WebIdentityAccessToken');
      const role = await assume({
        token: parameters.required('WebIdentityToken'),
        watch: request.watch,
        from: request,
        ...sessionRequest(parameters),
        ...(roleArn === undefined ? {} : { roleArn }),
        ...(accessToken === undefined ? {} : { accessToken }),
      });
      const granted = role.credentials;
      const result = [
        assumedRoleUser(role.roleArn, granted),
        credentialsElement(granted),
        element('SubjectFromWebIdentityToken', role.subject),
        element('Audience', role.audience),
        element('Provider', role.issuer),
      ];
      return { result, granted };
    },
  };
}
