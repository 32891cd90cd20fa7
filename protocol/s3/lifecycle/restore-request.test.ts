import { describe, expect, it } from 'vitest';
import { parseRestoreRequest } from './restore-request.ts';

const request = (inside: string) => `<RestoreRequest>${inside}</RestoreRequest>`;

describe('a restore request', () => {
  it.each([
    ['days', '<Days>3</Days>'],
    ['a speed', '<Days>3</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters>'],
    ['a speed, as older clients send it', '<Days>3</Days><Tier>Expedited</Tier>'],
  ])('has %s', (_, inside) => {
    expect(parseRestoreRequest(request(inside))).toBe(3);
  });

  it.each([
    ['no days', '', 'MalformedXML'],
    ['days that are no number', '<Days>x</Days>', 'MalformedXML'],
    ['0 days', '<Days>0</Days>', 'InvalidArgument'],
    ['another speed', '<Days>1</Days><Tier>Slow</Tier>', 'MalformedXML'],
    ['an unknown element', '<Days>1</Days><Hours>1</Hours>', 'MalformedXML'],
    ['a query', '<Days>1</Days><Type>SELECT</Type>', 'NotImplemented'],
    ['another place', '<Days>1</Days><OutputLocation/>', 'NotImplemented'],
  ])('with %s is refused', (_, inside, code) => {
    expect(() => parseRestoreRequest(request(inside))).toThrow(expect.objectContaining({ code }) as Error);
  });
});
