import { exchange, type TenantEndpoint } from '../declared/signed-request.ts';
import { TenantRefusal } from '../declared/tenant-refusal.ts';

const wrong = new Set(['SignatureDoesNotMatch', 'InvalidClientTokenId']);

/**
 * Whether the server takes these keys: it never tells a secret key, but everybody may ask who they are. Keys that rest are not taken.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 */
export async function keysWork(
  endpoint: TenantEndpoint,
  keys: Pick<TenantEndpoint, 'accessKey' | 'secretKey'>,
  now: () => Date,
): Promise<boolean> {
  const { status, body } = await exchange(
    { ...endpoint, ...keys },
    {
      method: 'POST',
      path: '/',
      query: '',
      body: 'Action=GetCallerIdentity&Version=2011-06-15',
      contentType: 'application/x-www-form-urlencoded',
      service: 'sts',
      region: 'us-east-1',
    },
    now(),
  );
  if (status >= 200 && status < 300) return true;
  const code = /<Code>([A-Za-z]+)<\/Code>/.exec(body.toString())?.[1] ?? `HTTP ${status}`;
  if (wrong.has(code)) return false;
  throw new TenantRefusal(
    code === 'AccessDenied' ? 'KeysNotAnswered' : code,
    status,
    'it does not say whose the keys are',
  );
}
