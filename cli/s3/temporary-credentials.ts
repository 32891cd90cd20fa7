import { child, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import type { LoginProvider } from '../config/logins.ts';
import type { S3Client } from './client.ts';
import { singleAttempt } from './retry.ts';

const maxAnswerBytes = 1_048_576;

/** Sends an action of the STS API as a form, and returns the element of its result. */
async function callSts(client: S3Client, action: string, fields: Readonly<Record<string, string>>) {
  const form = new URLSearchParams({ Action: action, Version: '2011-06-15', ...fields });
  const { text } = await client.text({
    method: 'POST',
    path: '/',
    // The fields are only in the body, which no trace shows.
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(form.toString()),
    retries: singleAttempt,
  });
  const root = readXml(text, { maxBytes: maxAnswerBytes, root: `${action}Response` });
  return child(root, `${action}Result`);
}

export interface TemporaryCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken: string;
  /** ISO 8601. */
  readonly expiration: string;
}

/**
 * Gets temporary credentials by an action of the STS API.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html
 */
export async function assumeRole(
  client: S3Client,
  action: 'AssumeRoleWithWebIdentity' | 'AssumeRoleWithLDAPIdentity',
  fields: Readonly<Record<string, string>>,
): Promise<TemporaryCredentials> {
  const result = await callSts(client, action, fields);
  const credentials = result && child(result, 'Credentials');
  const [accessKey, secretKey] = [optional(credentials, 'AccessKeyId'), optional(credentials, 'SecretAccessKey')];
  if (accessKey === undefined || secretKey === undefined) {
    throw new ProgramError('Failed', 'The server answered without credentials');
  }
  return {
    accessKey,
    secretKey,
    sessionToken: optional(credentials, 'SessionToken') ?? '',
    expiration: optional(credentials, 'Expiration') ?? '',
  };
}

/** An identity provider of the server. Without a client ID the server has no client for programs of its users. */
export interface NamedProvider extends Omit<LoginProvider, 'clientId'> {
  readonly displayName: string;
  readonly clientId: string | undefined;
}

/** Asks a Coffer server for the identity providers by which users sign in. */
export async function identityProviders(client: S3Client): Promise<readonly NamedProvider[]> {
  const result = await callSts(client, 'ListSignInProviders', {});
  const providers = (result && child(result, 'Providers'))?.children ?? [];
  return providers.map((provider) => {
    const roleArn = optional(provider, 'RoleArn');
    return {
      name: optional(provider, 'Name') ?? '',
      displayName: optional(provider, 'DisplayName') ?? '',
      configUrl: optional(provider, 'ConfigUrl') ?? '',
      clientId: optional(provider, 'ClientId'),
      scopes: (optional(provider, 'Scopes') ?? '').split(' ').filter(Boolean),
      ...(roleArn === undefined ? {} : { roleArn }),
    };
  });
}

/** Returns undefined for an empty element, too. */
function optional(node: XmlNode | undefined, name: string): string | undefined {
  return (node && textOf(node, name)) || undefined;
}
