import type { AwsKeyStoreSettings } from '../../config/keystore-settings.ts';
import type { Credentials } from '../../../protocol/sigv4/signed-request.ts';
import { KeyStoreError } from '../keystore.ts';

/** The credentials at hand; fresh ones where those are taken no more. */
export type AwsCredentialSource = (options?: { readonly fresh: boolean }) => Promise<Credentials>;

/**
 * Those of the configuration, else what AWS's own programs find: the environment, the profile, the service account's role (IRSA), Pod
 * Identity, the container's or the machine's role. AWS's library is loaded for the latter alone.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
export function awsCredentials({ credentials, region }: AwsKeyStoreSettings): AwsCredentialSource {
  if (credentials !== undefined) return () => Promise.resolve(credentials);
  let provide: ((options?: { forceRefresh?: boolean }) => Promise<FoundCredentials>) | undefined;
  return async (options) => {
    try {
      if (provide === undefined) {
        const { S3Client } = await import('@aws-sdk/client-s3');
        provide = new S3Client({ region }).config.credentials;
      }
      const found = await provide(options?.fresh === true ? { forceRefresh: true } : undefined);
      const { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken } = found;
      return { accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    } catch (cause) {
      throw new KeyStoreError(
        'refused',
        `no credentials for AWS Secrets Manager are found, neither in keystore.aws.secretsmanager.credentials nor in the environment, ` +
          `the profile, or a role of the pod or machine: ${(cause as Error).message}`,
        { cause },
      );
    }
  };
}

interface FoundCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}
