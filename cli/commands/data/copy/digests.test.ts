import { describe, expect, it } from 'vitest';
import { digestHeaders, digestsOf, parseChecksum } from './digests.ts';

const bytes = () => [Buffer.from('1234'), Buffer.from('56789')];

describe('the digests of a body', () => {
  // The check values of the catalogue of CRCs.
  it.each([
    ['crc32', { 'x-amz-checksum-crc32': Buffer.from('cbf43926', 'hex').toString('base64') }],
    ['CRC32C', { 'x-amz-checksum-crc32c': Buffer.from('e3069283', 'hex').toString('base64') }],
    ['CRC64NVME', { 'x-amz-checksum-crc64nvme': Buffer.from('ae8b14860a799888', 'hex').toString('base64') }],
    ['SHA1', { 'x-amz-checksum-sha1': '98O8HYCOBHMq32eZZczDTKeuNEE=' }],
    ['md5', { 'content-md5': 'JfnnlDI7RTiF9RgfG2JNCw==' }],
  ])('are %s', async (name, headers) => {
    expect(digestHeaders(await digestsOf(bytes, parseChecksum(name)))).toEqual(headers);
  });

  it('are none where none is wanted, and the body is not read', async () => {
    let opened = 0;
    const unread = (): Buffer[] => {
      opened += 1;
      return [];
    };
    expect(digestHeaders(await digestsOf(unread, parseChecksum(undefined)))).toEqual({});
    expect(opened).toBe(0);
  });

  it('are not of an unknown name', () => {
    expect(() => parseChecksum('XXHASH')).toThrow('Invalid --checksum `XXHASH`');
  });
});
