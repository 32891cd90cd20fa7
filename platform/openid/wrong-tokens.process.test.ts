import { createHmac, createSign, KeyObject } from 'node:crypto';
import {
  SignJWT,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { TokenError } from './errors.ts';
import { createKeySet } from './key-set.ts';
import { createLimitedFetch } from '../http/limited-fetch.ts';
import { verifyToken } from './verify-token.ts';

/** What no OpenID provider would send, what attackers do, and what clients get wrong: each is refused, with its reason. */

let provider: OpenIdProviderDouble;
let keys: ReturnType<typeof createKeySet>;
let stranger: { readonly privateKey: CryptoKey; readonly jwk: JWK };
let publicPem = '';
const now = Math.floor(Date.now() / 1_000);

beforeAll(async () => {
  provider = await startOpenIdProvider({ algorithm: 'RS256', users: [{ username: 'ann' }] });
  const fetch = createLimitedFetch();
  keys = createKeySet(`${provider.issuer}/protocol/openid-connect/certs`, { fetch });
  await keys.load();
  const pair = await generateKeyPair('RS256', { extractable: true });
  stranger = { privateKey: pair.privateKey, jwk: await exportJWK(pair.publicKey) };
  publicPem = await exportSPKI((await importJWK(provider.keys.published.keys[0] ?? {}, 'RS256')) as CryptoKey);
});
afterAll(() => provider.close());

type Values = Record<string, unknown>;

function claims(changes: Values = {}): JWTPayload {
  const base = { iss: provider.issuer, sub: provider.user('ann').id, aud: 'account', azp: 'coffer' };
  return JSON.parse(JSON.stringify({ ...base, iat: now - 1, exp: now + 300, ...changes })) as JWTPayload;
}

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const good = (changes: Values = {}, header: Values = {}) => provider.keys.sign(claims(changes), header);
/** Signed by the provider's key, whatever the text of its payload and its header is: no library would. */
function signedText(payload: string, header: Values = {}): string {
  const signed = `${part({ alg: 'RS256', kid: 'key-1', ...header })}.${part(payload)}`;
  const signature = createSign('sha256').update(signed).sign(KeyObject.from(provider.keys.newest.privateKey));
  return `${signed}.${signature.toString('base64url')}`;
}
const hmac = (secret: string, alg = 'HS256', header: Values = {}) => {
  const signed = `${part({ alg, kid: 'key-1', typ: 'JWT', ...header })}.${part(claims())}`;
  return `${signed}.${createHmac(alg.replace('HS', 'sha'), secret).update(signed).digest('base64url')}`;
};
const unsigned = (header: Values, signature = '') => `${part(header)}.${part(claims())}.${signature}`;
const foreign = (header: Values) =>
  new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', ...header }).sign(stranger.privateKey);
async function changed(change: (parts: string[]) => string[]): Promise<string> {
  return change((await good()).split('.')).join('.');
}
const json = (values: Values = {}) => JSON.stringify(claims(values));
const withText = (text: string) => json().replace(/}$/, `,${text}}`);

type Case = readonly [what: string, code: TokenError['code'], says: RegExp, token: () => string | Promise<string>];

const algorithms: Case[] = [
  ...['none', 'None', 'NONE', 'nOnE'].map((alg): Case => [
    `alg ${alg}`,
    'AlgorithmRefused',
    /algorithm/,
    () => unsigned({ alg, typ: 'JWT' }),
  ]),
  ['alg none with a signature', 'AlgorithmRefused', /algorithm/, () => unsigned({ alg: 'none' }, 'AAAA')],
  ...['HS256', 'HS384', 'HS512'].map((alg): Case => [
    `${alg} by the public key as PEM`,
    'AlgorithmRefused',
    /algorithm/,
    () => hmac(publicPem, alg),
  ]),
  [
    'HS256 by the public key as JWK',
    'AlgorithmRefused',
    /algorithm/,
    () => hmac(JSON.stringify(provider.keys.published.keys[0])),
  ],
  ['HS256 by the empty secret', 'AlgorithmRefused', /algorithm/, () => hmac('')],
  ['HS256 by the client secret, not announced', 'AlgorithmRefused', /algorithm/, () => hmac('coffer-secret')],
  ['an algorithm that nobody knows', 'AlgorithmRefused', /algorithm/, () => unsigned({ alg: 'XX256' }, 'AAAA')],
  ['RS1', 'AlgorithmRefused', /algorithm/, () => unsigned({ alg: 'RS1', kid: 'key-1' }, 'AAAA')],
  ['an empty algorithm', 'TokenMalformed', /./, () => unsigned({ alg: '', kid: 'key-1' }, 'AAAA')],
  ['no algorithm', 'TokenMalformed', /alg/, () => unsigned({ kid: 'key-1' }, 'AAAA')],
  ['a number as algorithm', 'TokenMalformed', /alg/, () => unsigned({ alg: 256, kid: 'key-1' }, 'AAAA')],
  ['a list as algorithm', 'TokenMalformed', /alg/, () => unsigned({ alg: ['RS256'], kid: 'key-1' }, 'AAAA')],
  ['ES256 under the name of an RSA key', 'KeyUnknown', /ES256/, () => unsigned({ alg: 'ES256', kid: 'key-1' }, 'AAAA')],
];

const keyNames: Case[] = [
  ['another kid', 'KeyUnknown', /"other"/, () => foreign({ kid: 'other' })],
  ['no kid', 'SignatureInvalid', /signature/, () => foreign({})],
  ['an empty kid', 'KeyUnknown', /""/, () => foreign({ kid: '' })],
  ['a path as kid', 'KeyUnknown', /dev/, () => foreign({ kid: '../../../../dev/null' })],
  ['SQL as kid', 'KeyUnknown', /UNION/, () => foreign({ kid: "x' UNION SELECT 'key" })],
  ['__proto__ as kid', 'KeyUnknown', /__proto__/, () => foreign({ kid: '__proto__' })],
  ['a number as kid', 'KeyUnknown', /1/, () => unsigned({ alg: 'RS256', kid: 1 }, 'AAAA')],
  ['a kid of 10,000 characters', 'KeyUnknown', /publish/, () => foreign({ kid: 'k'.repeat(10_000) })],
  ['the right kid, signed by another key', 'SignatureInvalid', /signature/, () => foreign({ kid: 'key-1' })],
  ['its own key embedded', 'SignatureInvalid', /signature/, () => foreign({ kid: 'key-1', jwk: stranger.jwk })],
  ['its own key embedded, no kid', 'SignatureInvalid', /signature/, () => foreign({ jwk: stranger.jwk })],
  ['its own key under another kid', 'KeyUnknown', /publish/, () => foreign({ kid: 'mine', jwk: stranger.jwk })],
  ...(['jku', 'x5u'] as const).flatMap((name): Case[] => [
    [
      `${name} of another host`,
      'SignatureInvalid',
      /./,
      () => foreign({ kid: 'key-1', [name]: 'https://evil.test/k' }),
    ],
    [`${name} of metadata services`, 'KeyUnknown', /./, () => foreign({ kid: 'x', [name]: 'http://169.254.169.254/' })],
  ]),
  ['x5c with a certificate of its own', 'SignatureInvalid', /./, () => foreign({ kid: 'key-1', x5c: ['MIIB'] })],
  ['x5t of another certificate', 'SignatureInvalid', /./, () => foreign({ kid: 'key-1', x5t: 'AAAA' })],
];

const headers: Case[] = [
  [
    'a critical header that nobody knows',
    'TokenMalformed',
    /critical/,
    () => signedText(json(), { crit: ['x'], x: 1 }),
  ],
  ['an empty list of critical headers', 'TokenMalformed', /./, () => signedText(json({}), { crit: [] })],
  [
    'a critical header that is not there',
    'TokenMalformed',
    /./,
    () => unsigned({ alg: 'RS256', crit: ['exp'] }, 'AAAA'),
  ],
  ['a text as critical headers', 'TokenMalformed', /./, () => unsigned({ alg: 'RS256', crit: 'b64' }, 'AAAA')],
  ['an unencoded payload', 'TokenMalformed', /critical/, () => signedText(json(), { b64: false, crit: ['b64'] })],
  ['a token within the token', 'TokenMalformed', /another token/, async () => signedText(await good(), { cty: 'JWT' })],
  ['a token within, by cty alone', 'TokenMalformed', /another token/, () => good({}, { cty: 'JWT' })],
  ['a logout token', 'TokenMalformed', /logout/, () => good({}, { typ: 'logout+jwt' })],
  [
    'a header with a name twice',
    'TokenMalformed',
    /"alg" twice/,
    () => `${part('{"alg":"none","alg":"RS256","kid":"key-1"}')}.${part(claims())}.AAAA`,
  ],
  ['a header that is a list', 'TokenMalformed', /header/, () => `${part('[]')}.${part(claims())}.AAAA`],
  ['a header that is null', 'TokenMalformed', /header/, () => `${part('null')}.${part(claims())}.AAAA`],
  ['a header that is no JSON', 'TokenMalformed', /header/, () => `${part('alg=RS256')}.${part(claims())}.AAAA`],
  ['a header cut short', 'TokenMalformed', /header/, () => changed(([h = '', ...rest]) => [h.slice(0, -4), ...rest])],
  [
    'a header that is no UTF-8',
    'TokenMalformed',
    /UTF-8/,
    () => `${Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString('base64url')}.${part(claims())}.AAAA`,
  ],
];

const shapes: Case[] = [
  ['nothing', 'TokenMalformed', /1 part/, () => ''],
  ['a word', 'TokenMalformed', /1 part/, () => 'token'],
  ['dots alone', 'TokenMalformed', /base64url/, () => '..'],
  ['two parts', 'TokenMalformed', /2 parts/, () => changed((parts) => parts.slice(0, 2))],
  ['four parts', 'TokenMalformed', /4 parts/, () => changed((parts) => [...parts, 'AAAA'])],
  ['an encrypted token', 'TokenMalformed', /encrypted/, () => changed((parts) => [...parts, 'AAAA', 'AAAA'])],
  ['the word Bearer before it', 'TokenMalformed', /base64url/, async () => `Bearer ${await good()}`],
  ['a line end after it', 'TokenMalformed', /base64url/, async () => `${await good()}\n`],
  ['a space in it', 'TokenMalformed', /base64url/, () => changed(([h, p = '', s]) => [h ?? '', ` ${p}`, s ?? ''])],
  ['padding', 'TokenMalformed', /base64url/, () => changed(([h, p, s]) => [h ?? '', `${p}=`, s ?? ''])],
  ['the other base64', 'TokenMalformed', /base64url/, () => changed(([h, p, s]) => [h ?? '', `${p}+/`, s ?? ''])],
  ['Cyrillic that looks like it', 'TokenMalformed', /base64url/, async () => (await good()).replace('e', 'е')],
  ['a zero byte', 'TokenMalformed', /base64url/, async () => `${await good()}\0`],
  ['quotes', 'TokenMalformed', /base64url/, async () => JSON.stringify(await good())],
  ['JSON of a signature', 'TokenMalformed', /1 part/, () => '{"payload":"e30","signatures":[]}'],
  ['20,001 characters', 'TokenMalformed', /longer/, () => 'a'.repeat(20_001)],
  ['claims of a megabyte', 'TokenMalformed', /longer/, () => good({ blob: 'x'.repeat(1_048_576) })],
  [
    'a signature cut short',
    'SignatureInvalid',
    /./,
    () => changed(([h, p, s = '']) => [h ?? '', p ?? '', s.slice(0, -8)]),
  ],
  ['no signature', 'SignatureInvalid', /./, () => changed(([h, p]) => [h ?? '', p ?? '', ''])],
  [
    'a signature of something else',
    'SignatureInvalid',
    /./,
    async () => {
      const other = (await good({ sub: 'other' })).split('.')[2] ?? '';
      return changed(([h, p]) => [h ?? '', p ?? '', other]);
    },
  ],
  [
    'a payload changed after signing',
    'SignatureInvalid',
    /./,
    () => changed(([h, , s]) => [h ?? '', part(claims({ policy: 'consoleAdmin' })), s ?? '']),
  ],
];

const payloads: Case[] = [
  ['a payload that is no JSON', 'TokenMalformed', /payload/, () => signedText('claims')],
  ['a payload cut short', 'TokenMalformed', /payload/, () => signedText(json({}).slice(0, -1))],
  ['a payload that is a list', 'TokenMalformed', /payload/, () => signedText('[{}]')],
  ['a payload that is null', 'TokenMalformed', /payload/, () => signedText('null')],
  ['a payload that is a text', 'TokenMalformed', /payload/, () => signedText('"claims"')],
  ['two payloads', 'TokenMalformed', /payload/, () => signedText(`${json({})}${json({})}`)],
  ['a byte order mark', 'TokenMalformed', /payload/, () => signedText(`\uFEFF${json({})}`)],
  ['nested 9,000 deep', 'TokenMalformed', /longer|payload/, () => signedText('['.repeat(9_000))],
  ['sub twice', 'TokenMalformed', /"sub" twice/, () => signedText(withText('"sub":"root"'))],
  ['policy twice', 'TokenMalformed', /"policy" twice/, () => signedText(withText('"policy":"a","policy":"b"'))],
  ['aud twice, one escaped', 'TokenMalformed', /"aud" twice/, () => signedText(withText('"\\u0061ud":"coffer"'))],
  ['a name twice within a claim', 'TokenMalformed', /"a" twice/, () => signedText(withText('"x":{"a":1,"a":2}'))],
  ...['Refresh', 'Offline', 'Logout'].map((typ): Case => [
    `a token of typ ${typ}`,
    'TokenMalformed',
    new RegExp(typ),
    () => good({ typ }),
  ]),
];

const times: Case[] = [
  ['expired by a minute', 'TokenExpired', /expired at 20/, () => good({ exp: now - 60 })],
  ['expired in 1970', 'TokenExpired', /1970/, () => good({ exp: 1 })],
  ['expired before 1970', 'TokenExpired', /19/, () => good({ exp: -1_000_000 })],
  ['expired further back than dates go', 'TokenExpired', /-1e\+?300|-1/, () => good({ exp: -1e300 })],
  ['without exp', 'ClaimMissing', /exp/, () => good({ exp: undefined })],
  ['exp as text', 'TokenMalformed', /exp/, () => good({ exp: String(now + 300) })],
  ['exp as null', 'TokenMalformed', /exp/, () => good({ exp: null })],
  ['exp as list', 'TokenMalformed', /exp/, () => good({ exp: [now + 300] })],
  ['exp as object', 'TokenMalformed', /exp/, () => good({ exp: { valueOf: now + 300 } })],
  ['exp as true', 'TokenMalformed', /exp/, () => good({ exp: true })],
  ['nbf in an hour', 'TokenNotYetValid', /nbf/, () => good({ nbf: now + 3_600 })],
  ['nbf in a thousand years', 'TokenNotYetValid', /nbf/, () => good({ nbf: now + 3.2e10 })],
  ['nbf as text', 'TokenMalformed', /nbf/, () => good({ nbf: 'now' })],
  ['nbf as null', 'TokenMalformed', /nbf/, () => good({ nbf: null })],
  ['iat in an hour', 'TokenNotYetValid', /iat/, () => good({ iat: now + 3_600, exp: now + 7_200 })],
  ['iat further out than dates go', 'TokenNotYetValid', /iat/, () => good({ iat: 1e300 })],
  ['iat as text', 'TokenMalformed', /iat/, () => good({ iat: '1' })],
  ['iat as list', 'TokenMalformed', /iat/, () => good({ iat: [] })],
];

const persons: Case[] = [
  ['another issuer', 'IssuerMismatch', /evil/, () => good({ iss: 'https://evil.test/realms/demo' })],
  ['another realm', 'IssuerMismatch', /master/, () => good({ iss: provider.issuer.replace('demo', 'master') })],
  ['a slash after the issuer', 'IssuerMismatch', /iss/, () => good({ iss: `${provider.issuer}/` })],
  ['an issuer in capitals', 'IssuerMismatch', /iss/, () => good({ iss: provider.issuer.toUpperCase() })],
  [
    'an issuer with a letter that looks alike',
    'IssuerMismatch',
    /iss/,
    () => good({ iss: provider.issuer.replace('e', 'е') }),
  ],
  ['no issuer', 'IssuerMismatch', /null/, () => good({ iss: undefined })],
  ['a list of issuers', 'IssuerMismatch', /\[/, () => good({ iss: [provider.issuer] })],
  ['a number as issuer', 'IssuerMismatch', /1/, () => good({ iss: 1 })],
  ['another audience and azp', 'AudienceMismatch', /"else"/, () => good({ aud: 'else', azp: 'else' })],
  ['several audiences, not this one', 'AudienceMismatch', /"b"/, () => good({ aud: ['a', 'b'], azp: 'c' })],
  ['no audience, another azp', 'AudienceMismatch', /"else"/, () => good({ aud: undefined, azp: 'else' })],
  ['no audience and no azp', 'AudienceMismatch', /null/, () => good({ aud: undefined, azp: undefined })],
  ['an empty list of audiences', 'AudienceMismatch', /\[\]/, () => good({ aud: [], azp: 'else' })],
  ['the client within another name', 'AudienceMismatch', /./, () => good({ aud: 'coffer-admin', azp: 'x coffer' })],
  ['the client in capitals', 'AudienceMismatch', /COFFER/, () => good({ aud: 'COFFER', azp: 'Coffer' })],
  ['an object as audience', 'AudienceMismatch', /./, () => good({ aud: { coffer: true }, azp: ['coffer'] })],
  ['audiences in a list in a list', 'AudienceMismatch', /./, () => good({ aud: [['coffer']], azp: 1 })],
  ['no subject', 'ClaimMissing', /sub/, () => good({ sub: undefined })],
  ['an empty subject', 'ClaimMissing', /sub/, () => good({ sub: '' })],
  ['a number as subject', 'ClaimMissing', /sub/, () => good({ sub: 7 })],
  ['a list as subject', 'ClaimMissing', /sub/, () => good({ sub: ['root'] })],
  ['null as subject', 'ClaimMissing', /sub/, () => good({ sub: null })],
];

const all = [...algorithms, ...keyNames, ...headers, ...shapes, ...payloads, ...times, ...persons];

describe('verifyToken', () => {
  it('takes the token that the wrong ones are made of', async () => {
    const expected = { issuer: provider.issuer, clientId: 'coffer', keys, clientSecret: 'coffer-secret' };
    await expect(verifyToken(await good(), expected)).resolves.toMatchObject({ issuer: provider.issuer });
    await expect(verifyToken(signedText(json({})), expected)).resolves.toBeDefined();
  });

  it('is shown 100 wrong tokens at least, each of its own', () => {
    expect(new Set(all.map(([what]) => what)).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(100);
  });

  it.each(all)('refuses %s', async (_what, code, says, token) => {
    const sent = await token();
    const expected = { issuer: provider.issuer, clientId: 'coffer', keys, clientSecret: 'coffer-secret' };
    const refusal: unknown = await verifyToken(sent, { ...expected, hmacAlgorithms: ['RS256'] }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(TokenError);
    const { code: found, message } = refusal as TokenError;
    expect({ code: found, message }).toMatchObject({ code, message: expect.stringMatching(says) as string });
    // The token is a secret as long as it may be good elsewhere.
    if (sent.length > 40) expect(message).not.toContain(sent.slice(0, 40));
  });

  it('never asks an address that a token names', () => {
    expect(provider.requests.every((request) => request.endsWith('certs'))).toBe(true);
  });
});
