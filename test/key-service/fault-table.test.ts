import { randomBytes } from 'node:crypto';
import { createServer as createTlsServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { listen } from '../../platform/http/listen.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { refusals, type KeyServiceErrorCode } from '../../protocol/key-service/errors.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import { translateFailure } from '../../server/objects/operations/translate-failure.ts';
import { FakeKeyService } from '../support/encryption/fake-key-service.ts';
import { inFullForm } from '../support/full-form.ts';

// The table of faults: each answer that a key service, or a gateway before it, can give, for each call, for a data key that is in memory and one
// that is not, with one endpoint and with two of which the other is well.

/** The answer of an endpoint: bytes of HTTP, after which it ends the connection where `cut`; undefined for the right answer. */
type Fault = { readonly name: string; readonly bytes: string; readonly cut?: boolean } | undefined;

let fault: Fault;
let faulty: string;
let well: string;
let ca: string;
let pem: { readonly cert: string; readonly key: string; readonly ca: string };
const service = new FakeKeyService();
const servers: Server[] = [];

/** A server of raw HTTP over TLS, since the server of Node cannot send half an answer. */
async function serve(faultOf: () => Fault): Promise<string> {
  const server = createTlsServer({ cert: pem.cert, key: pem.key }, (socket) => {
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (;;) {
        const head = received.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
        if (received.length < head + 4 + length) return;
        const [method = '', path = ''] = received.split(' ');
        const body = received.slice(head + 4, head + 4 + length);
        received = received.slice(head + 4 + length);
        void answer(socket, faultOf(), method, path, body);
      }
    });
  });
  servers.push(server);
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' });
  return `https://127.0.0.1:${port}`;
}

async function answer(socket: TLSSocket, found: Fault, method: string, path: string, body: string): Promise<void> {
  if (found !== undefined) {
    if (found.cut === true) socket.end(found.bytes);
    else socket.write(found.bytes);
    return;
  }
  const text = await rightAnswer(method, path, JSON.parse(body === '' ? '{}' : body) as Record<string, string>);
  socket.write(response(200, text));
}

const base64 = (value: Buffer) => value.toString('base64');

async function rightAnswer(_: string, path: string, sent: Record<string, string>): Promise<string> {
  const [, , , call = '', name = ''] = path.split('/');
  const bytes = (field: string) => Buffer.from(sent[field] ?? '', 'base64');
  if (path === '/version' || path === '/v1/status') return '{"version":"1"}';
  if (path === '/v1/identity/self/describe') return '{"identity":"abc"}';
  switch (call) {
    case 'generate': {
      const { plaintext, ciphertext, version } = await service.generateKey(name, bytes('context'));
      return JSON.stringify({ plaintext: base64(plaintext), ciphertext: base64(ciphertext), version });
    }
    case 'decrypt':
      return JSON.stringify({
        plaintext: base64(await service.decryptKey(name, bytes('ciphertext'), bytes('context'))),
      });
    case 'encrypt':
      return '{"ciphertext":"AAAA"}';
    case 'hmac':
      return '{"hmac":"AAAA"}';
    case 'rotate':
      return '{"version":"v2","versions":2}';
    case 'describe':
      return '{"name":"k"}';
    case 'list':
      return '{"name":"k","names":["k"]}\n';
    default:
      return '';
  }
}

function response(status: number, body: string, headers = ''): string {
  return `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

const bodies = [
  '{"message":"front says no"}',
  '<html><body>404 page not found</body></html>',
  '',
  '{"error":{"code":404,"message":"key does not exist"}}',
  'key does not exist',
  '{"message":"not autho',
] as const;

/** Every status that is not a success, with bodies of other programs. `npm test` takes one of them for each status. */
const foreign: readonly Fault[] = Array.from({ length: 300 }, (_, i) => 300 + i).flatMap((status) =>
  bodies
    .filter((_, at) => inFullForm(1, 0) === 1 || at === status % bodies.length)
    .map((body) => {
      const headers = status < 400 ? 'location: /elsewhere\r\n' : status === 429 ? 'retry-after: 3600\r\n' : '';
      return { name: `${status} ${body}`, bytes: response(status, body, headers) };
    }),
);

const cuts: readonly Fault[] = [
  { name: 'nothing', bytes: '', cut: true },
  { name: 'half a status line', bytes: 'HTTP/1.1 20', cut: true },
  { name: 'half a head', bytes: 'HTTP/1.1 200 OK\r\ncontent-len', cut: true },
  { name: 'half a body', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"name":', cut: true },
  { name: 'half of an error', bytes: 'HTTP/1.1 404 X\r\ncontent-length: 100\r\n\r\n{"message":"key', cut: true },
  { name: 'half a chunk', bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{"name":', cut: true },
  { name: 'no HTTP', bytes: 'SSH-2.0-OpenSSH_9.0\r\n\r\n', cut: true },
  { name: 'a page', bytes: response(200, '<html>sign in</html>') },
  { name: 'JSON that ends early', bytes: response(200, '{"plaintext":"AAAA"') },
  { name: 'JSON of another program', bytes: response(200, '{"ok":true}') },
  { name: 'no content', bytes: 'HTTP/1.1 204 No Content\r\n\r\n' },
  { name: 'a part', bytes: response(206, '{"version":"1"}') },
];

/** The words of the protocol, and what they decide. */
const decided: readonly (readonly [keyof typeof refusals, KeyServiceErrorCode])[] = [
  ['keyNotFound', 'key-not-found'],
  ['keyExists', 'key-exists'],
  ['notAuthentic', 'not-authentic'],
  ['notPermitted', 'not-permitted'],
  ['noClientCertificate', 'not-permitted'],
  ['tlsRequired', 'not-permitted'],
  ['tooManyClientCertificates', 'not-permitted'],
  ['invalidKeySize', 'invalid-request'],
  ['noHmac', 'invalid-request'],
  ['bodyTooLarge', 'invalid-request'],
  ['notImplemented', 'not-supported'],
  ['methodNotAllowed', 'not-supported'],
];
const temporary = [
  'accessFailed',
  'createFailed',
  'listFailed',
  'storeUnavailable',
  'storeUnreachable',
  'timeout',
  'stopping',
] as const;

const bytes = Buffer.from('bytes');
const calls: Readonly<Record<string, (client: KeyServiceClient) => Promise<unknown>>> = {
  create: (client) => client.createKey('k'),
  import: (client) => client.importKey('k', Buffer.alloc(32)),
  rotate: (client) => client.rotateKey('k'),
  describe: (client) => client.describeKey('k'),
  list: (client) => client.listKeys(),
  delete: (client) => client.deleteKey('k'),
  generate: (client) => client.generateKey('default-key', bytes),
  encrypt: (client) => client.encryptKey('k', bytes, bytes),
  hmac: (client) => client.hmac('k', bytes),
  status: (client) => client.status(),
  version: (client) => client.version(),
  ready: (client) => client.ready(),
  self: (client) => client.describeSelf(),
};
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );

async function open(endpoints: readonly string[]): Promise<KeyServiceClient> {
  // Each call starts with the first endpoint, and none is set aside.
  let now = 0;
  const client = await openKeyServiceClient({
    endpoints,
    credentials: { kind: 'pem', ...pem },
    log: createLogger({ name: 'test', level: 'silent' }),
    now: () => (now += 60_000),
    retryForMs: 0,
  });
  return client;
}

let one: KeyServiceClient;
let two: KeyServiceClient;

beforeAll(async () => {
  const pair = await issueCertificate({ commonName: 'both', ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });
  ca = pair.certPem;
  pem = { cert: pair.certPem, key: pair.keyPem, ca };
  faulty = await serve(() => fault);
  well = await serve(() => undefined);
  one = await open([faulty]);
  two = await open([faulty, well]);
});
afterAll(() => {
  for (const client of [one, two]) client.close();
  for (const server of servers) server.close();
});

/** A data key that is in memory, and a call that needs one that is not. */
async function warmAndCold(client: KeyServiceClient) {
  const keys = keyServiceKeys(client, { defaultKey: 'default-key' });
  fault = undefined;
  const context = { 'coffer:bucket': 'warm' };
  const made = await keys.generate('default-key', context);
  const old = await keyServiceKeys(client, { defaultKey: 'default-key' }).generate('default-key', { old: '1' });
  return {
    warm: async () => {
      const opened = await keys.unseal(made.sealed, context);
      return opened.equals(made.plaintext) && (await keys.generate('default-key', context)) === made;
    },
    colds: [
      () => keys.generate('default-key', { 'coffer:bucket': randomBytes(8).toString('hex') }),
      () => Promise.resolve(keys.unseal(old.sealed, { old: '1' })),
    ],
  };
}

const told = async (work: () => Promise<unknown>): Promise<string> =>
  work().then(
    () => 'done',
    (error: unknown) => {
      const failure = translateFailure(error);
      return failure instanceof S3Error ? failure.code : String(failure);
    },
  );

async function tableOf(faults: readonly Fault[], client: KeyServiceClient, expected: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const next of faults) {
    const { warm, colds } = await warmAndCold(client);
    fault = next;
    for (const [name, call] of Object.entries(calls)) {
      const code = await codeOf(call(client));
      if (code !== expected) wrong.push(`${name}: ${next?.name ?? ''}: ${code}`);
    }
    for (const cold of colds) {
      const code = await told(cold);
      const right = expected === 'done' ? 'done' : 'ServiceUnavailable';
      if (code !== right) wrong.push(`S3: ${next?.name ?? ''}: ${code}`);
    }
    if (!(await warm())) wrong.push(`in memory: ${next?.name ?? ''}`);
  }
  return wrong;
}

describe('an answer of a key service that is not its own word', () => {
  it('is an outage for every call, and what is in memory stays', async () => {
    expect(await tableOf([...foreign, ...cuts], one, 'unavailable')).toEqual([]);
  }, 600_000);

  it('is the other endpoint’s to answer', async () => {
    expect(await tableOf([...foreign, ...cuts], two, 'done')).toEqual([]);
  }, 600_000);
});

const own = (refusal: keyof typeof refusals): Fault => {
  const [status, message] = refusals[refusal];
  return { name: refusal, bytes: response(status, JSON.stringify({ message })) };
};

describe('an answer of a key service in the words of the protocol', () => {
  it.each(decided)('decides each call at the first endpoint: %s is %s', async (refusal, code) => {
    for (const client of [one, two]) {
      fault = own(refusal);
      // The client asks the endpoints in turn: with two of them every second call begins at the faulty one.
      const codes = new Set<string>();
      for (const call of Object.values(calls))
        for (let turn = 0; turn < 2; turn++) codes.add(await codeOf(call(client)));
      expect([...codes].sort()).toEqual(client === one ? [code] : [code, 'done'].sort());
    }
  });

  it('is an outage where the store or the service fails, and what is in memory stays', async () => {
    expect(await tableOf(temporary.map(own), one, 'unavailable')).toEqual([]);
    expect(await tableOf(temporary.map(own), two, 'done')).toEqual([]);
  });

  it.each([
    ['keyNotFound', 'KMSNotFound'],
    ['notPermitted', 'AccessDenied'],
  ] as const)('ends what is in memory where the key may not be used any more: %s', async (refusal, code) => {
    const { warm, colds } = await warmAndCold(one);
    fault = own(refusal);
    for (const cold of colds) expect(await told(cold)).toBe(code);
    expect(await told(warm)).toBe(code);
  });
});
