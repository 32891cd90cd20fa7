/** The console of a tenant with its root user. */
interface ConsoleAccess {
  /** For example `http://127.0.0.1:9090`. */
  readonly console: string;
  readonly rootUser: string;
  readonly rootPassword: string;
}

/** The bucket of the demonstration, and the policy that `bob` has for it. */
export const demoBucket = 'team-notes';

/** Users list the bucket and read what is in it, and change what is below their own name. */
const policy = {
  Version: '2012-10-17',
  Statement: [
    { Sid: 'Look', Effect: 'Allow', Action: ['s3:ListBucket'], Resource: [`arn:aws:s3:::${demoBucket}`] },
    {
      Sid: 'Own',
      Effect: 'Allow',
      Action: ['s3:*Object'],
      // One policy for all users of the provider.
      Resource: [`arn:aws:s3:::${demoBucket}/\${jwt:preferred_username}/*`],
    },
  ],
};

const notes: readonly (readonly [key: string, text: string])[] = [
  ['alice/plan.md', '# Plan\n\nOnly alice and administrators change what is below alice/.\n'],
  ['bob/todo.md', '# To do\n\nbob may change this, rename it, and upload beside it.\n'],
  ['welcome.md', '# Welcome\n\nSign in as bob: the buttons that his policies do not allow are not there.\n'],
];

/**
 * Makes a bucket that the demonstration's users can open, and its policy, at the first start: a policy that is there already means that it
 * was done, or that an administrator has made another one. Rejects with the answer of the console.
 */
export async function makeDemoData({ console: url, rootUser, rootPassword }: ConsoleAccess): Promise<void> {
  let cookie = '';
  const send = async (method: string, path: string, body: string | object) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? 'text/markdown' : 'application/json';
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { 'x-coffer-console': '1', 'content-type': type, ...(cookie !== '' && { cookie }) },
      body: text,
      signal: AbortSignal.timeout(30_000),
    });
    if (response.ok || response.status === 409) return response;
    throw new Error(`${method} ${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
  };
  const signedIn = await send('POST', '/sign-in', { accessKey: rootUser, secretKey: rootPassword });
  cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  try {
    const form = { document: JSON.stringify(policy), expects: null };
    if ((await send('PUT', `/policy?name=${demoBucket}`, form)).status === 409) return;
    await send('POST', '/buckets', { name: demoBucket });
    for (const [key, text] of notes) {
      await send('PUT', `/s3/${demoBucket}?key=${encodeURIComponent(key)}`, text);
    }
  } finally {
    await send('POST', '/sign-out', {});
  }
}
