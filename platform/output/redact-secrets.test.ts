import { describe, expect, it } from 'vitest';
import { redactSecrets, redactText } from './redact-secrets.ts';

it.each(['amqp://USER:PASSWORD@HOST:PORT/VHOST', 'USER:PASSWORD@tcp(HOST:PORT)/DATABASE'])(
  'keeps %s, which a message shows as the form',
  (text) => {
    expect(redactText(`expected ${text}`)).toBe(`expected ${text}`);
  },
);

describe('redactSecrets', () => {
  it('keeps any name', () => {
    const given = JSON.parse('{"a":{"__proto__":{"x":1},"constructor":2}}') as Record<string, unknown>;
    expect(JSON.stringify(redactSecrets(given))).toBe('{"a":{"__proto__":{"x":1},"constructor":2}}');
  });

  it.each([
    'authorization',
    'Authorization',
    'set-cookie',
    'secretKey',
    'SECRET_KEY',
    'secret_access_key',
    'client_secret',
    'password',
    'sessionToken',
    'X-Amz-Security-Token',
    'access_token',
    'apiKey',
    'plaintext',
    'auth_token',
    'SASL_PASSWORD',
    'connection_string',
    'dsnString',
  ])('hides %s', (name) => {
    expect(redactSecrets({ [name]: 'hunter2' })).toEqual({ [name]: '[redacted]' });
  });

  it('hides secrets however deep, in lists and errors too', () => {
    const error = Object.assign(new Error('failed'), { config: { headers: { authorization: 'Bearer abcdefgh' } } });
    const text = JSON.stringify(redactSecrets({ request: { headers: [{ cookie: 'hunter2' }] }, err: error }));
    expect(text).not.toMatch(/hunter2|abcdefgh/);
    expect(text).toContain('failed');
  });

  it('leaves what is no secret', () => {
    const fields = {
      bucket: 'photos',
      status: 200,
      tokens: 3,
      keyName: 'my-key',
      hasPassword: true,
      password: undefined,
    };
    expect(redactSecrets(fields)).toEqual(fields);
  });

  it('keeps the message and code of an error and of its cause', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const clean = redactSecrets({ err: new Error('no key service', { cause }) })['err'];
    expect(clean).toMatchObject({ message: 'no key service', cause: { message: 'refused', code: 'ECONNREFUSED' } });
  });

  it('ends with objects that hold themselves', () => {
    const loop: Record<string, unknown> = { name: 'loop' };
    loop['self'] = loop;
    expect(JSON.stringify(redactSecrets({ loop }))).toContain('[deeper]');
  });

  it('never prints bytes, which may be key material', () => {
    expect(redactSecrets({ body: Buffer.from('hunter2') })).toEqual({ body: '[7 bytes]' });
  });
});

describe('redactText', () => {
  it.each([
    ['GET /b/k?X-Amz-Signature=deadbeef&X-Amz-Date=1', 'GET /b/k?X-Amz-Signature=[redacted]&X-Amz-Date=1'],
    ['/b/k?X-Amz-Security-Token=abc%2F123&x=1', '/b/k?X-Amz-Security-Token=[redacted]&x=1'],
    ['/cb?code=abc123&state=s', '/cb?code=[redacted]&state=s'],
    ['https://user:hunter2@idp.example/x', 'https://user:[redacted]@idp.example/x'],
    ['https://user:hun@ter2@idp.example/x', 'https://user:[redacted]@idp.example/x'],
    ['amqp://user:hun/ter2@broker:5672/vhost', 'amqp://user:[redacted]@broker:5672/vhost'],
    ['amqp://user:12/hunter#2?@broker:5672', 'amqp://user:[redacted]@broker:5672'],
    ['redis://:hunter2@cache:6379', 'redis://:[redacted]@cache:6379'],
    ['https://hunter2@hooks.example/x', 'https://[redacted]@hooks.example/x'],
    ['http://a:b@c, http://d:e@f', 'http://a:[redacted]@c, http://d:[redacted]@f'],
    ['https://idp.example:8443/users/ann@example.com', 'https://idp.example:8443/users/ann@example.com'],
    ['https://idp.example/users/ann@example.com', 'https://idp.example/users/ann@example.com'],
    ['https://h/?api_key=hunter2&x=1', 'https://h/?[redacted]'],
    ['/?apikey=hunter2', '/?apikey=[redacted]'],
    ['/?sv=1&sig=hunter2', '/?sv=1&sig=[redacted]'],
    ['/?user=ann&password=hunter2', '/?user=ann&password=[redacted]'],
    ['/?webhook-secret=hunter2', '/?webhook-secret=[redacted]'],
    ['asked "https://h/x?k=hunter2".', 'asked "https://h/x?[redacted]".'],
    ['(https://h/x?k=hunter2#part)', '(https://h/x?[redacted]#part)'],
    ['https://h/x? is open', 'https://h/x? is open'],
    ['host=db user=ann password=hunter2 dbname=d', 'host=db user=ann password=[redacted] dbname=d'],
    ["password='hunter 2' host=db", 'password=[redacted] host=db'],
    ['ann:hun/t@er2@tcp(db:3306)/events', 'ann:[redacted]@tcp(db:3306)/events'],
    ['header Bearer abcdefgh.ijkl', 'header Bearer [redacted]'],
    ['API key: kes:v1:AGaV6VXH', 'API key: kes:v1:[redacted]'],
    ['plain text about https://idp.example:8443/path', 'plain text about https://idp.example:8443/path'],
  ])('%s', (text, clean) => {
    expect(redactText(text)).toBe(clean);
  });

  const long = 'x'.repeat(2_000);
  it.each([
    ['the password of a URL', `https://user:${long}@h/x`, 'https://user:[redacted]@h/x'],
    ['the token of a URL', `https://${long}@h/x`, 'https://[redacted]@h/x'],
    ['the password after a long user', `https://${long}:hunter2@h/x`, `https://${long}:[redacted]@h/x`],
    ['the password of a database', `ann:${long}@tcp(db:3306)/events`, 'ann:[redacted]@tcp(db:3306)/events'],
  ])('takes out %s, however long', (_, text, clean) => {
    expect(redactText(`to ${text} failed`)).toBe(`to ${clean} failed`);
  });

  it('takes out the token of a URL within another', () => {
    expect(redactText('https://h:80/?to=https://hunter2@a/,https://ann:hunter2@b/')).not.toContain('hunter2');
  });

  it.each(['a://', 'a://b:1/', 'a:', 'https://user:'])('leaves a line of a megabyte of %s', (unit) => {
    const line = unit.repeat(1_000_000 / unit.length);
    expect(redactText(`https:// ${line}`)).toBe(`https:// ${line}`);
  });

  it('takes out the signature of an authorization header', () => {
    const header = `AWS4-HMAC-SHA256 Credential=AK/1/r/s3/aws4_request, SignedHeaders=host, Signature=${'ab'.repeat(32)}`;
    expect(redactText(header)).not.toContain('abab');
    expect(redactText(header)).toContain('Credential=AK');
  });

  it('takes out private keys, cut ones too', () => {
    expect(redactText('-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- rest')).not.toContain('MIIE');
    expect(redactText('-----BEGIN EC PRIVATE KEY-----\nMIIE')).not.toContain('MIIE');
  });
});
